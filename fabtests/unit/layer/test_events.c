/* SPDX-License-Identifier: BSD-2-Clause */
/* Over the scripted provider: what becomes of events about what is closed. */
#include "cairn_test.h"
#include "layer_world.h"
#include "pair.h"
#include "script.h"

CT_FIXTURE(layer_events, struct pair, layer_pair_up, layer_pair_down);

static void expect_none(struct fid_eq *eq)
{
	struct pair_event event;
	uint32_t number;

	CT_EXPECT_EQ(fi_eq_read(eq, &number, &event, sizeof(event), 0), -FI_EAGAIN);
}

static void close_client(struct pair *p)
{
	CT_EXPECT_EQ(fi_close(&p->client.ep->fid), 0);
	p->client.ep = NULL;
}

CT_TEST_F(layer_events, one_that_the_lower_provider_has_goes_with_its_endpoint)
{
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 0), FI_SHUTDOWN, NULL, 0), 0);
	close_client(t);
	expect_none(t->client.eq);
}

CT_TEST_F(layer_events, one_that_the_layer_has_goes_with_its_endpoint)
{
	struct pair_event event;
	uint32_t number;

	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 0), FI_SHUTDOWN, NULL, 0), 0);
	CT_EXPECT_EQ(fi_eq_read(t->client.eq, &number, &event, sizeof(event), FI_PEEK),
		     sizeof(event.entry));
	close_client(t);
	expect_none(t->client.eq);
	/* The other end learns of it from the lower provider. */
	pair_expect(t->server.eq, FI_SHUTDOWN, &event);
	CT_EXPECT_EQ(event.entry.fid, &t->server.ep->fid);
}

CT_TEST_F(layer_events, one_that_comes_too_late_is_about_nobody)
{
	scr_hold(SCR_EVENTS);
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 0), FI_SHUTDOWN, NULL, 0), 0);
	close_client(t);
	scr_let_all_go();
	expect_none(t->client.eq);
}

CT_TEST_F(layer_events, one_about_an_endpoint_without_a_queue_has_nowhere_to_go)
{
	struct fid_ep *ep;

	CT_ASSERT_EQ(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
	CT_EXPECT_LT(scr_event(scr_fid(FI_CLASS_EP, 2), FI_SHUTDOWN, NULL, 0), 0);
	expect_none(t->client.eq);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

/* Handed on or still in the lower queue, the layer refuses it. */
static void close_listener_with_request(struct pair *p, bool handed_on)
{
	struct pair_event event;
	struct fi_info *info = NULL;
	char addr[256], data[256];
	size_t len = sizeof(addr);
	uint32_t number;

	layer_pair_down(p);
	scr_begin();
	CT_ASSERT_EQ(pair_open(p, LAYER_STACK), 0);
	CT_ASSERT_EQ(pair_client(p), 0);
	CT_EXPECT_EQ(fi_getname(&p->pep->fid, addr, &len), 0);
	CT_EXPECT_EQ(fi_connect(p->client.ep, addr, NULL, 0), 0);
	if (handed_on) {
		CT_EXPECT_EQ(fi_eq_read(p->server.eq, &number, &event, sizeof(event),
					FI_PEEK),
			     sizeof(event.entry));
		info = event.entry.info;
		CT_EXPECT_NE(info, NULL);
	}
	CT_EXPECT_EQ(fi_close(&p->pep->fid), 0);
	p->pep = NULL;
	expect_none(p->server.eq);
	CT_EXPECT_EQ(scr_count(SCR_REJECT), 1);
	pair_expect_err(p->client.eq, FI_ECONNREFUSED, data);
}

CT_TEST_F(layer_events, a_request_that_nobody_read_is_refused_when_nobody_listens)
{
	close_listener_with_request(t, true);
	close_listener_with_request(t, false);
}

/* While one queue is full, what comes later for any of them waits, and is not lost. */
CT_TEST_F(layer_events, a_full_queue_loses_nothing)
{
	struct pair_event event;
	unsigned int sent = 0, got = 0;
	uint32_t number;

	do {
		CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 0), FI_NOTIFY, NULL, 0), 0);
		expect_none(t->server.eq);
	} while (++sent < 5000 && !ct_failed());
	CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 1), FI_SHUTDOWN, NULL, 0), 0);
	expect_none(t->server.eq);
	while (got < sent && fi_eq_read(t->client.eq, &number, &event, sizeof(event),
					0) >= (ssize_t)sizeof(event.entry))
		got++;
	CT_EXPECT_EQ(got, sent);
	expect_none(t->client.eq);
	pair_expect(t->server.eq, FI_SHUTDOWN, &event);
}

CT_TEST_F(layer_events, an_endpoint_with_more_than_fits_closes)
{
	for (unsigned int sent = 0; sent < 5000; sent++) {
		CT_EXPECT_EQ(scr_event(scr_fid(FI_CLASS_EP, 0), FI_NOTIFY, NULL, 0), 0);
		expect_none(t->server.eq);
	}
	close_client(t);
	expect_none(t->client.eq);
}
