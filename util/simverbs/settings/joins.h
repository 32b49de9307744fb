/* SPDX-License-Identifier: BSD-2-Clause */
/* Which joins of multicast groups fail, and how. */
#ifndef SVB_JOINS_H
#define SVB_JOINS_H

#include <stdbool.h>
#include <stdint.h>

#define SVB_MAX_JOIN_RULES 16

enum svb_join_fate {
	SVB_JOIN_ERROR, /* RDMA_CM_EVENT_MULTICAST_ERROR */
	SVB_JOIN_CALL,	/* the call itself fails */
	SVB_JOIN_NEVER, /* nobody answers */
};

/* Of the joins of a group so many fail in that way. */
struct svb_join_rule {
	bool any;	   /* group */
	uint32_t len;	   /* 4: an IPv4 address; 16: an IPv6 address, or a MGID */
	uint8_t group[16]; /* network byte order */
	enum svb_join_fate fate;
	int err;
	uint32_t left;
};

struct svb_join_rules {
	uint32_t count;
	struct svb_join_rule rule[SVB_MAX_JOIN_RULES];
};

/*
 * Reads "GROUP=WHAT", "GROUP=WHAT*N" and so on, separated by spaces: simverbs(1) says
 * what they are. False: one of them is wrong, or there are too many.
 */
bool svb_join_rules_parse(struct svb_join_rules *rules, const char *text);

/*
 * The rule that a join uses up, or NULL. A group has two names: the address that the
 * program gave, of len bytes, and the GID. The caller serializes.
 */
const struct svb_join_rule *svb_join_rule_take(struct svb_join_rules *rules,
					       const void *addr, uint32_t len,
					       const void *mgid);

#endif
