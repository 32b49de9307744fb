/* SPDX-License-Identifier: BSD-2-Clause */
/* What the paper says of its measurements, as comparisons of two cases. */
#ifndef RLG_ORDERINGS_H
#define RLG_ORDERINGS_H

#include <stdbool.h>
#include "stats.h"

/* Only words, in this order: they are also walked through. */
struct rlg_case {
	const char *domain, *ddio, *flush; /* labels of the run */
	const char *kind, *op, *method;
};
#define RLG_CASE_WORDS 6

struct rlg_ordering {
	const char *text;
	bool same; /* a and b take the same time; else a takes less */
	struct rlg_case a, b;
};

/* Ends with one without text. */
extern const struct rlg_ordering rlg_orderings[];

bool rlg_case_same(const struct rlg_case *a, const struct rlg_case *b);
/* "holds", "fails", or "undecided" where the intervals overlap or hold the truth with
 * less than 0.95. */
const char *rlg_verdict(const struct rlg_ordering *ordering, const struct rlg_interval *a,
			const struct rlg_interval *b);

#endif
