/* SPDX-License-Identifier: BSD-2-Clause */
/* What scenarios.c and the files beside it are written with. */
#ifndef XPV_EXPECT_H
#define XPV_EXPECT_H

#include <rdma/fabric.h>
#include "world.h"

/* WRONG_*: as scenario.expect wants it. */
unsigned int expect_completion(const struct machine *m);
unsigned int expect_read_back(const struct machine *m);
unsigned int expect_visible(const struct machine *m);
unsigned int expect_compound(const struct machine *m);
unsigned int expect_compound_waits(const struct machine *m);
unsigned int expect_told(const struct machine *m);
unsigned int expect_sent(const struct machine *m);
unsigned int expect_sent_read(const struct machine *m);
unsigned int expect_compound_relaxed(const struct machine *m);
unsigned int expect_durable_message(const struct machine *m);
unsigned int expect_fails(const struct machine *m);
unsigned int expect_refused(const struct machine *m);
unsigned int expect_cheap_first(const struct machine *m);
unsigned int expect_no_wait(const struct machine *m);
unsigned int expect_two_messages(const struct machine *m);
unsigned int expect_posted_first(const struct machine *m);
unsigned int expect_not_flushed(const struct machine *m);
unsigned int expect_noted_first(const struct machine *m);
unsigned int expect_torn(const struct machine *m);

/* As scenario.fits. */
bool fits_pipelined(const struct machine *m);
bool fits_flush(const struct machine *m);
bool fits_groups(const struct machine *m);
bool fits_flush_data(const struct machine *m);
bool fits_flush_drained(const struct machine *m);
bool fits_has_data(const struct machine *m);
bool fits_message_alone(const struct machine *m);
bool fits_fast(const struct machine *m);
bool fits_no_flush(const struct machine *m);
bool fits_has_atomics(const struct machine *m);
bool fits_short_word(const struct machine *m);
bool fits_answered(const struct machine *m);
bool fits_answered_data(const struct machine *m);

#define A 0
#define B 512
#define FAR 8192 /* SPECIAL_WIDE: not taken together with what is below B */
/* No region has it. The device does not look where nothing is written. */
#define OUTSIDE (2 * PM_WIDE)
#define LINE 64
#define BIT(number) (1u << (number))
#define BOTH .special = BIT(SPECIAL_NONE) | BIT(SPECIAL_MESSAGE)

#define DURABLE .flags = FI_COMMIT_COMPLETE
#define MORE .flags = FI_COMMIT_COMPLETE | FI_MORE
#define LAST .flags = FI_COMMIT_COMPLETE | FI_FENCE
#define CALL(kind_, at_, len_, ...)                                             \
	{                                                                       \
		.kind = CALL_##kind_, .at = (at_), .len = (len_), ##__VA_ARGS__ \
	}

/* Scenarios for receives that recovery looks into. Messages are in the replay format: a
 * header of 32 bytes and a payload. */
#define REPLAY .receives = BIT(RECEIVES_REPLAY)

/* By what they are about; each ends with a name that is NULL. */
extern const struct scenario scenarios_plain[], scenarios_durable[], scenarios_message[],
	scenarios_replay[], scenarios_counted[], scenarios_plan[], scenarios_fence[],
	scenarios_regions[];

#endif
