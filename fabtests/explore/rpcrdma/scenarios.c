/* SPDX-License-Identifier: BSD-2-Clause */
#include "scenario.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct scenario scenarios[] = {
	{
		.name = "a Call",
		.side = {{.call = {{7}}, .receives = 1}, {.receives = 1}},
		.reads_late = true,
	},
	{
		.name = "a Call each way, one XID",
		.side = {{.call = {{7}}, .receives = 2}, {.call = {{7}}, .receives = 2}},
	},
	{
		.name = "a Call each way, one XID, receives posted late",
		.side = {{.call = {{7}}, .receives = 1, .late = 1},
			 {.call = {{7}}, .receives = 1, .late = 1}},
	},
	{
		.name = "two Calls, one credit",
		.side = {{.call = {{7}, {8}}, .receives = 1}, {.receives = 1}},
	},
	{
		.name = "two Calls, one credit, a Call back",
		.side = {{.call = {{7}, {8}}, .receives = 2, .late = 2},
			 {.call = {{8}}, .receives = 1}},
		.is_large = true,
	},
	{
		.name = "three Calls, the receives for their Replies posted late",
		.side = {{.call = {{7}, {8}, {9}}, .receives = 3, .late = 3},
			 {.receives = 1}},
	},
	{
		.name = "three Calls, two credits",
		.side = {{.call = {{7}, {8}, {9}}, .credits = 2, .receives = 2},
			 {.grant = 2, .receives = 2}},
	},
	{
		.name = "three Calls, two wished, one granted",
		.side = {{.call = {{7}, {8}, {9}}, .credits = 2, .receives = 2},
			 {.receives = 2}},
	},
	{
		.name = "a Call that is cancelled, another one",
		.side = {{.call = {{7, .cancel = true}, {8}}, .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "a Call that is cancelled, its XID again",
		.side = {{.call = {{7, .cancel = true}, {7}}, .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "a Call that is cancelled, one back with its XID",
		.side = {{.call = {{7, .cancel = true, .delivery = true}}, .receives = 1},
			 {.call = {{7}}, .receives = 1}},
	},
	{
		.name = "one of three Calls is cancelled, two credits",
		.side = {{.call = {{7, .cancel = true}, {8}, {9}},
			  .credits = 2,
			  .receives = 1},
			 {.grant = 2, .receives = 1}},
	},
	{
		.name = "a Call, and the connection is lost",
		.side = {{.call = {{7}}, .receives = 1}, {.receives = 1}},
		.breaks = true,
	},
	{
		.name = "two Calls, and the connection is lost",
		.side = {{.call = {{7}, {8, .delivery = true}},
			  .credits = 2,
			  .receives = 1},
			 {.receives = 1}},
		.breaks = true,
	},
	{
		.name = "a Call, and an end shuts down",
		.side = {{.call = {{7}}, .receives = 1}, {.receives = 1, .shuts = true}},
	},
	{
		.name = "a Call that is cancelled, and the connection is lost",
		.side = {{.call = {{7, .cancel = true}}, .receives = 1}, {.receives = 1}},
		.breaks = true,
	},
	{
		.name = "a long Call",
		.side = {{.call = {{7, KIND_LONG, .delivery = true}, {8}}, .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "a long Call that is copied, a short one behind it",
		.side = {{.call = {{7, KIND_LONG}, {8}},
			  .credits = 2,
			  .receives = 1,
			  .copies = true},
			 {.grant = 2, .receives = 1}},
	},
	{
		.name = "an item in a Read chunk",
		.side = {{.call = {{7, KIND_DDP, .delivery = true}, {8}}, .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "an item in a Read chunk, the send not to be delivered",
		.side = {{.call = {{7, KIND_DDP}, {8}}, .receives = 1}, {.receives = 1}},
	},
	{
		.name = "a result in a Write chunk",
		.side = {{.call = {{7, KIND_RESULT}, {8}}, .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "a Reply in a Reply chunk",
		.side = {{.call = {{7, KIND_REPLY}, {8}}, .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "a long Call, and the connection is lost",
		.side = {{.call = {{7, KIND_LONG, .delivery = true}}, .receives = 1},
			 {.receives = 1}},
		.breaks = true,
	},
	{
		.name = "a result in a Write chunk, and the connection is lost",
		.side = {{.call = {{7, KIND_RESULT}}, .receives = 1}, {.receives = 1}},
		.breaks = true,
	},
	{
		.name = "a Reply in a Reply chunk, and the connection is lost",
		.side = {{.call = {{7, KIND_REPLY}}, .receives = 1}, {.receives = 1}},
		.breaks = true,
	},
	{
		.name = "a Call with a chunk, which the peer refuses",
		.side = {{.call = {{7, KIND_LONG, .delivery = true}, {8}}, .receives = 1},
			 {.receives = 1, .chunkless = true}},
	},
	{
		.name = "a long Call that is cancelled",
		.side = {{.call = {{7, KIND_LONG, .delivery = true, .cancel = true}, {8}},
			  .receives = 1},
			 {.receives = 1}},
	},
	{
		.name = "a Call with a result that is cancelled, its XID again",
		.side = {{.call = {{7, KIND_RESULT, .cancel = true}, {7}}, .receives = 1},
			 {.receives = 1}},
		.may_fail = true,
	},
	{
		.name = "a Call with a Reply chunk that is cancelled, another one",
		.side = {{.call = {{7, KIND_REPLY, .cancel = true}, {8}}, .receives = 1},
			 {.receives = 1}},
		.may_fail = true,
	},
	{
		.name = "a Call with a result that is cancelled, beside another one",
		.side = {{.call = {{7, KIND_RESULT, .cancel = true}, {8}},
			  .credits = 2,
			  .receives = 1},
			 {.grant = 2, .receives = 2}},
		.may_fail = true,
	},
	{
		.name = "a message",
		.side = {{.call = {{1}}, .receives = 1}, {.receives = 1}},
		.wrap = true,
		.reads_late = true,
	},
	{
		.name = "messages each way",
		.side = {{.call = {{1}, {1}}, .receives = 1},
			 {.call = {{1}}, .receives = 1}},
		.wrap = true,
	},
	{
		.name = "three messages, two credits",
		.side = {{.call = {{1}, {1}, {1}}, .credits = 2, .receives = 1},
			 {.grant = 2, .receives = 1}},
		.wrap = true,
	},
	{
		.name = "a long message between short ones",
		.side = {{.call = {{1}, {1, KIND_LONG, .delivery = true}, {1}},
			  .credits = 2,
			  .receives = 1},
			 {.grant = 2, .receives = 2}},
		.wrap = true,
	},
	{
		.name = "a message in a Reply",
		.side = {{.call = {{1}, {1}}, .credits = 3, .receives = 1},
			 {.call = {{1}}, .grant = 3, .receives = 1, .answers = 2}},
		.wrap = true,
	},
	{
		.name = "a message in a Reply behind one in a Call, a late receive",
		.side = {{.call = {{1}, {1}}, .credits = 3, .receives = 1, .late = 1},
			 {.call = {{1}, {1}}, .grant = 3, .receives = 1, .answers = 1}},
		.wrap = true,
	},
	{
		.name = "a message in a Reply, which is answered",
		.side = {{.call = {{1}, {1}, {1}},
			  .credits = 3,
			  .receives = 1,
			  .answers = 1,
			  .starts = 2},
			 {.call = {{1}}, .grant = 3, .receives = 1, .answers = 2}},
		.wrap = true,
	},
	{
		.name = "a message, and the connection is lost",
		.side = {{.call = {{1}}, .receives = 1}, {.receives = 1}},
		.wrap = true,
		.breaks = true,
	},
};

const struct scenario *xrp_scenario_at(unsigned int number)
{
	return number < COUNT(scenarios) ? &scenarios[number] : NULL;
}
