/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection request: its endpoint may be asked for again until it is open. */
#include <sys/mman.h>
#include <unistd.h>
#include "ends.h"
#include "objects.h"

/* The connection is what the request said. */
static void expect_up(struct ends *e)
{
	int ready = 0;
	size_t len = sizeof(ready);

	CT_EXPECT_EQ(fi_accept(e->server.ep, NULL, 0), 0);
	ends_connected(e);
	CT_EXPECT_EQ(fi_getopt(&e->server.ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_CAIRN_RPC_READY, &ready, &len),
		     0);
	CT_EXPECT_EQ(ready, 1);
}

static void set_up(struct ends *e)
{
	ends_begin();
	CT_ASSERT_EQ(ends_open(e, RPR_MODE_RPC), 0);
}

CT_FIXTURE(rpcrdma_request, struct ends, set_up, ends_close);

CT_TEST_F(rpcrdma_request,
	  an_endpoint_that_the_lower_provider_did_not_open_may_be_tried_again)
{
	const struct scr_rule refused = {.call = SCR_ENDPOINT,
					 .times = 1,
					 .ret = -FI_ENOSPC};
	struct fi_info *request = ends_request(t);

	CT_ASSERT_NE(request, NULL);
	scr_refuse(&refused);
	CT_EXPECT_EQ(ends_endpoint(&t->server, request), -FI_ENOSPC);
	CT_EXPECT_EQ(ends_endpoint(&t->server, request), 0);
	fi_freeinfo(request);
	if (t->server.ep)
		expect_up(t);
}

CT_TEST_F(rpcrdma_request, an_endpoint_that_there_was_no_memory_for_may_be_tried_again)
{
	unsigned int nth;
	int ret;
	struct fi_info *request = ends_request(t);

	CT_ASSERT_NE(request, NULL);
	for (nth = 1;; nth++) {
		ct_fail_alloc(nth);
		ret = fi_endpoint(t->server.domain, request, &t->server.ep, NULL);
		if (!ct_alloc_failed())
			break;
		CT_NOTE("allocation %u", nth);
		/* libfabric makes -FI_ENODATA of some. */
		CT_EXPECT_LT(ret, 0);
	}
	CT_ASSERT_EQ(ret, 0);
	CT_EXPECT_GT(nth, 2);
	CT_EXPECT_EQ(ends_bind(&t->server), 0);
	/* It has one. */
	CT_EXPECT_EQ(fi_endpoint(t->server.domain, request, &(struct fid_ep *){NULL},
				 NULL),
		     -FI_EINVAL);
	expect_up(t);
	fi_freeinfo(request);
}

/* What is left of a request that was answered may be anything. */
CT_TEST_F(rpcrdma_request, nothing_is_read_through_a_handle_that_is_none)
{
	const size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *nothing = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fi_info *info;

	CT_ASSERT_NE(nothing, MAP_FAILED);
	info = fi_dupinfo(t->info);
	info->handle = nothing;
	CT_EXPECT_EQ(ends_endpoint(&t->server, info), -FI_EINVAL);
	fi_freeinfo(info);
	munmap(nothing, size);
}

/* Read by nobody, not even from the lower provider's queue, it is refused with the close
 * of who listened. */
CT_TEST_F(rpcrdma_request, what_a_refused_request_said_is_forgotten)
{
	CT_EXPECT_EQ(ends_endpoint(&t->client, t->info), 0);
	CT_EXPECT_EQ(ends_connect(t), 0);
	CT_EXPECT_EQ(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	CT_EXPECT_EQ(scr_count(SCR_REJECT), 1);
	CT_EXPECT_TRUE(crn_list_empty(
		&crn_container_of(t->server.fabric, struct rpr_fabric, lower.fid)
			 ->requests));
}
