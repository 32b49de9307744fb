/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rooms that have handlers for the process joining, leaving or forking, in their
 * order.
 */
#include "engine/engine.h"
#include "model/model.h"
#include "subnet/subnet.h"
#include "verbs/verbs.h"

const struct svb_part svb_parts[SVB_PARTS] = {
	{
		.leave = svb_service_stop,
		.hold = svb_service_hold,
		.let_go = svb_service_let_go,
		.forget = svb_service_forget,
	},
	{
		.join = svb_counts_join,
		.forget = svb_counts_forget,
	},
	{
		.join = svb_devices_make,
		.forget = svb_removal_forget,
	},
	{
		.forget = svb_request_forget,
	},
	{
		.forget = svb_port_event_forget,
	},
	{
		.leave = svb_relay_stop,
		.forget = svb_relay_forget,
	},
	{
		.join = svb_medium_join,
		.leave = svb_medium_leave,
		.forget = svb_medium_forget,
		.mapped = svb_medium_meet,
	},
	{
		.forget = svb_mapped_forget,
	},
	{
		.leave = svb_subnet_leave_all,
	},
};
