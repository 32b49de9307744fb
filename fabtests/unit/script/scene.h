/* SPDX-License-Identifier: BSD-2-Clause */
/* Set-ups of fixtures whose object is a pair over the scripted provider; pair_down tears
 * them down. */
#ifndef SCENE_H
#define SCENE_H

#include <string.h>
#include "cairn_test.h"
#include "pair.h"
#include "script.h"

static inline void scene_begin(struct pair *p)
{
	scr_begin();
}

/* Connected. */
static inline void scene_up(struct pair *p)
{
	scr_begin();
	CT_ASSERT_EQ(pair_up(p, SCR_NAME), 0);
}

#endif
