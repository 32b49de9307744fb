/* SPDX-License-Identifier: BSD-2-Clause */
/* Multicast groups that the subnet manager makes. */
#ifndef SVB_GROUPS_H
#define SVB_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#define SVB_MAX_MADE_GROUPS 32

struct svb_made_group {
	uint8_t mgid[16];
	uint32_t qkey;
	uint32_t flow;
	uint32_t mtu; /* bytes; 0: that of the ports */
	uint32_t tclass;
	uint32_t sl;
	uint32_t pkey;
};

struct svb_made_groups {
	bool automatic; /* those of IPoIB of each partition, and none of the list */
	uint32_t count;
	struct svb_made_group group[SVB_MAX_MADE_GROUPS];
};

/* Reads "auto", "none" or "MGID,qkey=0x80000b1b,mtu=2048 MGID": simverbs(1). False: one
 * is wrong. */
bool svb_made_groups_parse(struct svb_made_groups *groups, const char *text);

#endif
