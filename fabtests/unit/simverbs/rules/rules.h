/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules of simverbs(1), each with its test: rows by what they are of. */
#ifndef RULES_H
#define RULES_H

#include "../world.h"

struct ask;

struct rule {
	const char *name; /* as in the manual's table; NULL: the end */
	void (*test)(void);
	/* Or: a request that this changes is refused with that errno, or, if that is 0,
	 * completes with that status. */
	void (*change)(struct ask *ask);
	int err, status;
};
#define TEST(test_) test_, NULL, 0, 0
#define REFUSED(change_, err_) NULL, change_, err_, 0
#define ENDS(change_, status_) NULL, change_, 0, status_
extern const struct rule rules_of_objects[];
extern const struct rule rules_of_requests[];
extern const struct rule rules_of_connections[];

/* A request of a to b, which a row changes. */
struct ask {
	struct end a, b;
	struct ibv_sge sge[5];
	struct ibv_send_wr wr;
};

/* A write of eight bytes, not signaled. */
bool ask_open(struct ask *ask);
void ask_close(struct ask *ask);
/* Makes it an atomic at that offset of b's memory. */
void ask_atomic(struct ask *ask, size_t at);
/* To be posted. Returns what the verb returned. */
int ask_post(struct ask *ask);
/* The same, and to complete so; errors complete though not signaled. Closes. */
void ask_ends(struct ask *ask, int status);

/* Memory that nobody has registered. */
extern char rule_page[8192];

#endif
