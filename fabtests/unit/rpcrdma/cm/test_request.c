/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection request: its endpoint may be asked for again until it is open. */
#include <sys/mman.h>
#include <unistd.h>
#include "ends.h"
#include "objects.h"

static struct ends e;

/* The connection is what the request said. */
static void expect_up(void)
{
	struct pair_event event;
	int ready = 0;
	size_t len = sizeof(ready);

	CT_EXPECT_EQ(fi_accept(e.server.ep, NULL, 0), 0);
	pair_expect(e.client.eq, FI_CONNECTED, &event);
	pair_expect(e.server.eq, FI_CONNECTED, &event);
	CT_EXPECT_EQ(fi_getopt(&e.server.ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_READY,
			       &ready, &len),
		     0);
	CT_EXPECT_EQ(ready, 1);
}

CT_TEST(rpcrdma_request,
	an_endpoint_that_the_lower_provider_did_not_open_may_be_tried_again)
{
	const struct scr_rule refused = {.call = SCR_ENDPOINT,
					 .times = 1,
					 .ret = -FI_ENOSPC};
	struct fi_info *request;

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	request = ends_request(&e);
	CT_ASSERT_NE(request, NULL);
	scr_refuse(&refused);
	CT_EXPECT_EQ(ends_endpoint(&e.server, request), -FI_ENOSPC);
	CT_EXPECT_EQ(ends_endpoint(&e.server, request), 0);
	fi_freeinfo(request);
	if (e.server.ep)
		expect_up();
	ends_close(&e);
}

CT_TEST(rpcrdma_request, an_endpoint_that_there_was_no_memory_for_may_be_tried_again)
{
	struct fi_info *request;
	unsigned int nth;
	int ret;

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	request = ends_request(&e);
	CT_ASSERT_NE(request, NULL);
	for (nth = 1;; nth++) {
		ct_fail_alloc(nth);
		ret = fi_endpoint(e.server.domain, request, &e.server.ep, NULL);
		if (!ct_alloc_failed())
			break;
		CT_NOTE("allocation %u", nth);
		/* libfabric makes -FI_ENODATA of some. */
		CT_EXPECT_LT(ret, 0);
	}
	CT_ASSERT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 2);
	CT_EXPECT_EQ(fi_ep_bind(e.server.ep, &e.server.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_ep_bind(e.server.ep, &e.server.cq->fid, FI_TRANSMIT | FI_RECV),
		     0);
	/* It has one. */
	CT_EXPECT_EQ(fi_endpoint(e.server.domain, request, &(struct fid_ep *){NULL},
				 NULL),
		     -FI_EINVAL);
	expect_up();
	fi_freeinfo(request);
	ends_close(&e);
}

/* What is left of a request that was answered may be anything. */
CT_TEST(rpcrdma_request, nothing_is_read_through_a_handle_that_is_none)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *nothing = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fi_info *info;

	CT_ASSERT_NE(nothing, MAP_FAILED);
	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	info = fi_dupinfo(e.info);
	info->handle = nothing;
	CT_EXPECT_EQ(ends_endpoint(&e.server, info), -FI_EINVAL);
	fi_freeinfo(info);
	ends_close(&e);
	munmap(nothing, size);
}

/* Read by nobody, not even from the lower provider's queue, it is refused with the close
 * of who listened. */
CT_TEST(rpcrdma_request, what_a_refused_request_said_is_forgotten)
{
	char addr[256];
	size_t len = sizeof(addr);

	ends_begin();
	CT_ASSERT_EQ(ends_open(&e, RPR_MODE_RPC), 0);
	CT_EXPECT_EQ(ends_endpoint(&e.client, e.info), 0);
	CT_EXPECT_EQ(fi_getname(&e.pep->fid, addr, &len), 0);
	CT_EXPECT_EQ(fi_connect(e.client.ep, addr, NULL, 0), 0);
	CT_EXPECT_EQ(fi_close(&e.pep->fid), 0);
	e.pep = NULL;
	CT_EXPECT_EQ(scr_count(SCR_REJECT), 1);
	CT_EXPECT_TRUE(crn_list_empty(
		&crn_container_of(e.server.fabric, struct rpr_fabric, lower.fid)
			 ->requests));
	ends_close(&e);
}
