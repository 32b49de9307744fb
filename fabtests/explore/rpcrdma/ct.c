/* SPDX-License-Identifier: BSD-2-Clause */
/* The two checks of unit tests that the scripted provider makes. */
#include <stdio.h>
#include <stdlib.h>
#include "cairn_test.h"

bool ct_compare(const char *file, int line, enum ct_relation relation, const char *a_text,
		const char *b_text, struct ct_value a, struct ct_value b)
{
	if (relation == CT_NE ? a.bits != b.bits : a.bits < b.bits)
		return true;
	fprintf(stderr, "%s:%d: %s, %s\n", file, line, a_text, b_text);
	abort();
}
