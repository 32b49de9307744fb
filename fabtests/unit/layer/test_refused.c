/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Over the scripted provider: every call of it may fail, and every allocation, while a
 * program opens and connects. The program gets the code, and nothing stays open.
 */
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

#define EACH 3 /* of one kind of call, this many are refused in turn */
#define ALLOCATIONS_MAX 500

/* True when the call was made, and so failed. libfabric leaves out a provider whose
 * fi_getinfo fails. */
static bool refuse_nth(enum scr_call call, unsigned int skip)
{
	const int wanted = call == SCR_GETINFO ? -FI_ENODATA : -FI_EIO;
	const struct scr_rule rule = {
		.call = call, .skip = skip, .times = 1, .ret = -FI_EIO};
	struct pair p;
	bool made;
	int ret;

	scr_begin();
	scr_refuse(&rule);
	ret = pair_up(&p, LAYER_STACK);
	made = scr_count(call) > skip;
	CT_EXPECT_EQ(ret, made ? wanted : 0);
	pair_down(&p);
	CT_EXPECT_EQ(scr_open(), 0);
	return made;
}

CT_TEST(layer_refused, any_call_of_the_lower_provider_may_fail)
{
	static const enum scr_call calls[] = {
		SCR_GETINFO, SCR_FABRIC,     SCR_DOMAIN,   SCR_EQ_OPEN, SCR_CQ_OPEN,
		SCR_MR_REG,  SCR_PASSIVE_EP, SCR_ENDPOINT, SCR_BIND,	SCR_ENABLE,
		SCR_GETWAIT, SCR_GETNAME,    SCR_LISTEN,   SCR_ACCEPT,	SCR_CONNECT,
	};
	unsigned int skip;

	for (size_t i = 0; i < CRN_COUNT(calls); i++) {
		for (skip = 0; skip < EACH; skip++) {
			CT_NOTE("%s %u", scr_call_name(calls[i]), skip);
			if (!refuse_nth(calls[i], skip))
				break;
		}
		CT_EXPECT_GT(skip, 0);
	}
}

CT_TEST(layer_refused, memory_may_run_out_anywhere)
{
	bool failed = true;
	unsigned int nth;
	struct pair p;
	int ret;

	for (nth = 1; failed && nth < ALLOCATIONS_MAX && !ct_failed(); nth++) {
		CT_NOTE("allocation %u", nth);
		scr_begin();
		ct_fail_alloc(nth);
		ret = pair_up(&p, LAYER_STACK);
		failed = ct_alloc_failed();
		if (!failed)
			CT_EXPECT_EQ(ret, 0);
		pair_down(&p);
		CT_EXPECT_EQ(scr_open(), 0);
	}
	CT_EXPECT_GT(nth, 30);
	CT_EXPECT_LT(nth, ALLOCATIONS_MAX);
}

/* The lower object stays, and so the layer's has to. */
CT_TEST(layer_refused, what_the_lower_provider_does_not_close_stays_open)
{
	static const enum layer_object own[] = {LAYER_FABRIC, LAYER_EQ,	 LAYER_DOMAIN,
						LAYER_CQ,     LAYER_SRX, LAYER_PEP,
						LAYER_EP};
	struct layer_world w = {.info = NULL};

	for (size_t i = 0; i < CRN_COUNT(own); i++) {
		CT_NOTE("the %s", layer_names[own[i]]);
		layer_start_on_script(&w);
		layer_open_before(&w, own[i] + 1);
		scr_refuse(&(
			struct scr_rule){.call = SCR_CLOSE, .times = 1, .ret = -FI_EIO});
		CT_EXPECT_EQ(layer_close_one(&w, own[i]), -FI_EIO);
		layer_close(&w);
		CT_EXPECT_EQ(scr_open(), 0);
	}
}
