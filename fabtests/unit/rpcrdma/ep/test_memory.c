/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory that runs out: each allocation fails once, from the connection request to a long
 * message. A call that failed for want of it may be made again, and then nothing is
 * different.
 */
#include <string.h>
#include "ends.h"

static struct ends e;

/* Once more, if the first time has failed. */
#define TWICE(call)                            \
	({                                     \
		ssize_t ret_ = (call);         \
		if (ret_ && ct_alloc_failed()) \
			ret_ = (call);         \
		CT_EXPECT_EQ(ret_, 0);         \
		ret_;                          \
	})

static int open_endpoint(struct end *end, struct fi_info *info)
{
	return fi_endpoint(end->domain, info, &end->ep, end);
}

/* One whose receives could not be posted is of no use, and says so. */
static bool enable(struct end *end)
{
	int ret;

	CT_EXPECT_EQ(ends_bind(end), 0);
	ret = fi_enable(end->ep);
	if (ret && ct_alloc_failed())
		ret = fi_enable(end->ep);
	if (ret)
		CT_EXPECT_EQ(ret, -FI_EOPBADSTATE);
	return !ret;
}

/* An event waits until there is memory for it. */
static int read_event(struct end *end, uint32_t wanted, struct pair_event *got)
{
	uint32_t event = 0;
	ssize_t ret = fi_eq_read(end->eq, &event, got, sizeof(*got), 0);

	return ret > 0 && event == wanted ? 0 : -FI_EAGAIN;
}

static bool accept_client(void)
{
	struct pair_event event = {.entry.info = NULL};
	bool good;

	if (TWICE(read_event(&e.server, FI_CONNREQ, &event)))
		return false;
	good = !TWICE(open_endpoint(&e.server, event.entry.info)) && enable(&e.server) &&
	       !TWICE(fi_accept(e.server.ep, NULL, 0));
	fi_freeinfo(event.entry.info);
	return good;
}

static bool connect_ends(void)
{
	struct pair_event event;

	return !TWICE(open_endpoint(&e.client, e.info)) && enable(&e.client) &&
	       !TWICE(ends_connect(&e)) && accept_client() &&
	       !TWICE(read_event(&e.client, FI_CONNECTED, &event)) &&
	       !TWICE(read_event(&e.server, FI_CONNECTED, &event));
}

/* All of it arrives, or the connection ends. */
static void expect_message(size_t len)
{
	struct fi_cq_data_entry entry;
	struct fi_cq_err_entry err = {0};
	struct end *to = &e.server;
	ssize_t ret = -FI_EAGAIN;

	for (int turns = 0; turns < 20 && ret == -FI_EAGAIN; turns++) {
		fi_cq_read(e.client.cq, &entry, 1);
		ret = fi_cq_read(to->cq, &entry, 1);
	}
	if (ret == -FI_EAVAIL && ct_alloc_failed()) {
		CT_EXPECT_EQ(fi_cq_readerr(to->cq, &err, 0), 1);
		CT_EXPECT_EQ(err.err, FI_ECANCELED);
		return;
	}
	CT_EXPECT_EQ(ret, 1);
	CT_EXPECT_EQ(entry.len, len);
	CT_EXPECT_MEMEQ(to->got[0], e.client.sent, len);
}

static void send_message(size_t len)
{
	memset(e.server.got[0], 0, ENDS_LONG);
	if (fi_recv(e.server.ep, e.server.got[0], ENDS_LONG, NULL, 0, &e))
		return;
	if (!TWICE(fi_send(e.client.ep, e.client.sent, len, NULL, 0, &e)))
		expect_message(len);
}

CT_TEST(rpcrdma_memory, what_runs_out_once_leaves_nothing)
{
	unsigned int nth;
	bool failed = true;

	for (nth = 1; failed && !ct_failed(); nth++) {
		CT_NOTE("allocation %u", nth);
		ends_begin();
		CT_ASSERT_EQ(ends_open(&e, RPR_MODE_WRAP), 0);
		memset(e.client.sent, 0x5a, ENDS_LONG);
		ct_fail_alloc(nth);
		if (connect_ends()) {
			send_message(ENDS_SHORT);
			send_message(ENDS_LONG);
		}
		failed = ct_alloc_failed();
		ends_close(&e);
	}
	CT_EXPECT_GT(nth, 20);
}
