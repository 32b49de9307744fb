/* SPDX-License-Identifier: BSD-2-Clause */
/* Which requests to subnet administration fail, and how. */
#ifndef SVB_SA_FAIL_H
#define SVB_SA_FAIL_H

#include <stdbool.h>
#include <stdint.h>

#define SVB_MAX_SA_RULES 16

enum svb_sa_fate {
	SVB_SA_FATE_NONE,
	SVB_SA_FATE_STATUS, /* the answer has that status, and nothing is done */
	SVB_SA_FATE_NEVER,  /* the request is lost */
	SVB_SA_FATE_DONE,   /* it is done, the answer is lost */
	SVB_SA_FATE_LATE,   /* it is done, the answer comes late */
};

/* What requests there are. */
enum svb_sa_kind {
	SVB_SA_ANY,
	SVB_SA_GET,
	SVB_SA_TABLE,
	SVB_SA_JOIN,
	SVB_SA_LEAVE,
	SVB_SA_PATH,
	SVB_SA_INFORM,
	SVB_SA_REPORT,
	SVB_SA_KINDS,
};

struct svb_sa_rule {
	enum svb_sa_kind kind;
	enum svb_sa_fate fate;
	uint16_t status;
	uint32_t ms;
	uint32_t left;
};

struct svb_sa_rules {
	uint32_t count;
	struct svb_sa_rule rule[SVB_MAX_SA_RULES];
};

/* Reads "KIND=WHAT", "KIND=WHAT*N" and so on: simverbs(1). False: one is wrong. */
bool svb_sa_rules_parse(struct svb_sa_rules *rules, const char *text);
/* The rule that a request uses up, or NULL. Any thread. */
const struct svb_sa_rule *svb_sa_rule_take(struct svb_sa_rules *rules,
					   enum svb_sa_kind kind);

#endif
