/* SPDX-License-Identifier: BSD-2-Clause */
/* What the event queue is told of a group, in room that is there. */
#include "internal.h"

static struct pvb_eq *mc_eq(const struct pvb_mc *mc)
{
	return mc->ep->eq;
}

static int mc_tell_error(struct pvb_mc *mc)
{
	const struct fi_eq_err_entry entry = {
		.fid = &mc->fid.fid,
		.context = mc->fid.fid.context,
		.err = mc->err,
		.prov_errno = mc->prov_errno,
	};

	return crn_eq_insert_err(&mc_eq(mc)->eq, &entry);
}

static int mc_tell_joined(struct pvb_mc *mc)
{
	const struct fi_eq_entry entry = {
		.fid = &mc->fid.fid,
		.context = mc->fid.fid.context,
	};

	/* Once: fi_mc_addr of other threads reads it when it has joined again, too. */
	if (mc->send && mc->fid.fi_addr == FI_ADDR_NOTAVAIL)
		mc->fid.fi_addr = mc->addr;
	return crn_eq_insert(&mc_eq(mc)->eq, FI_JOIN_COMPLETE, &mc->fid.fid, &entry,
			     sizeof(entry));
}

static void mc_unqueue(struct pvb_mc *mc)
{
	if (mc->reports)
		crn_list_del(&mc->report);
	mc->reports = false;
}

void pvb_mc_reports_flush(struct pvb_eq *eq)
{
	struct pvb_mc *mc;

	crn_mutex_assert_held(&eq->cm_lock);
	while (!crn_list_empty(&eq->mcs.reports)) {
		if (crn_eq_full(&eq->eq) || crn_eq_reserve(&eq->eq, PVB_CM_EVENT_MAX))
			return;
		mc = crn_container_of(eq->mcs.reports.next, struct pvb_mc, report);
		if (mc->err ? mc_tell_error(mc) : mc_tell_joined(mc))
			return;
		mc_unqueue(mc);
	}
}

void pvb_mc_report(struct pvb_mc *mc, int err, int prov_errno)
{
	mc_unqueue(mc);
	mc->err = err;
	mc->prov_errno = prov_errno;
	mc->reports = true;
	crn_list_add_tail(&mc_eq(mc)->mcs.reports, &mc->report);
	/* Before the next report of mc, which would replace this one. */
	pvb_mc_reports_flush(mc_eq(mc));
}

void pvb_mc_report_drop(struct pvb_mc *mc)
{
	mc_unqueue(mc);
	crn_eq_forget(&mc_eq(mc)->eq, &mc->fid.fid);
}
