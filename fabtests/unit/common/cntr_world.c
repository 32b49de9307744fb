/* SPDX-License-Identifier: BSD-2-Clause */
#include "cairn_test.h"
#include "cntr_world.h"

void open_cntr(struct crn_cntr *cntr)
{
	reopen_cntr(cntr, FI_WAIT_FD);
}

void reopen_cntr(struct crn_cntr *cntr, enum fi_wait_obj wait_obj)
{
	struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = wait_obj};

	close_cntr(cntr);
	CT_ASSERT_EQ(crn_cntr_init(cntr, &attr, NULL, NULL), 0);
}

void close_cntr(struct crn_cntr *cntr)
{
	if (cntr->fid.fid.fclass)
		CT_EXPECT_EQ(fi_close(&cntr->fid.fid), 0);
	cntr->fid.fid.fclass = 0;
}
