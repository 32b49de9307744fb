/* SPDX-License-Identifier: BSD-2-Clause */
#include "fct_fabric.h"

void fct_progress(void)
{
	char event[512];
	uint32_t kind;
	int i;

	for (i = 0; i < fct.n_progress_cq; i++)
		fi_cq_read(fct.progress_cq[i], NULL, 0);
	if (fct.progress_eq)
		fi_eq_read(fct.progress_eq, &kind, event, sizeof(event), FI_PEEK);
}
