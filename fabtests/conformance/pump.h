/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress of everything that is open, in the one thread of this program, and waiting
 * for what comes of it.
 */
#ifndef CONF_PUMP_H
#define CONF_PUMP_H

#include <stdbool.h>
#include <stdint.h>
#include "cairn_test.h"

/* From here to pump_remove, pump calls poll with arg. */
void pump_add(void (*poll)(void *arg), void *arg);
void pump_remove(void *arg);
/* One round. */
void pump(void);

/* When a wait that begins now is over. At once in a test that has failed already. */
uint64_t pump_end(void);
bool pump_until(uint64_t end);

/* The condition comes true before the deadline. */
#define SOON(a, a_text)                                         \
	({                                                      \
		const uint64_t end_ = pump_end();               \
		bool came_;                                     \
		while (!(came_ = (a)) && pump_until(end_))      \
			;                                       \
		ct_truth(__FILE__, __LINE__, a_text, came_, 1); \
	})
#define EXPECT_SOON(a) ((void)SOON(a, #a))
#define ASSERT_SOON(a) CT_OR_RETURN(SOON(a, #a))

#endif
