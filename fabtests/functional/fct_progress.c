/* SPDX-License-Identifier: BSD-2-Clause */
#include "fct_fabric.h"

void fct_progress(struct fct *t)
{
	char event[512];
	uint32_t kind;
	int i;

	for (i = 0; i < t->n_progress_cq; i++)
		fi_cq_read(t->progress_cq[i], NULL, 0);
	if (t->progress_eq)
		fi_eq_read(t->progress_eq, &kind, event, sizeof(event), FI_PEEK);
}
