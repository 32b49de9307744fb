/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include "cairn_test.h"
#include "cntr_world.h"

struct crn_cntr *open_cntr(enum fi_wait_obj wait_obj)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait_obj};
	struct crn_cntr *cntr = malloc(sizeof(*cntr));

	CT_EXPECT_EQ(crn_cntr_init(cntr, &attr, NULL, NULL), 0);
	return cntr;
}

void close_cntr(struct crn_cntr *cntr)
{
	CT_EXPECT_EQ(fi_close(&cntr->fid.fid), 0);
	free(cntr);
}
