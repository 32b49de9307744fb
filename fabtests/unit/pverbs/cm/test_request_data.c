/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a connection request: taken, rejected, given up, forgotten. */
#include <errno.h>
#include <rdma/fi_ext_cairn.h>
#include "../world_cm.h"

CT_TEST(cm_request, a_request_is_taken_once)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_ep *ep, *second;
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	CT_ASSERT_EQ(fi_endpoint(w.domain, info, &ep, NULL), 0);
	CT_EXPECT_EQ(fi_endpoint(w.domain, info, &second, NULL), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 0);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_request, a_request_is_rejected_once)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), 0);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(pep, NULL, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(pep, &pep->fid, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 1);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_request, a_request_is_rejected_by_its_listener)
{
	struct fid_pep *pep, *other;
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	CT_ASSERT_TRUE(world_listen(&w, &other));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_EQ(fi_reject(other, info->handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), 0);
	fi_freeinfo(info);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
	world_close_listening(&w, pep);
}

CT_TEST(cm_request, a_refusal_carries_data)
{
	uint8_t wanted[PVB_CM_REQ_SIZE], data[PVB_CM_REQ_SIZE + 1] = {0};
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct world w;
	int on = 1;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, data, PVB_CM_APP_SIZE + 1), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, "busy", 4), 0);
	CT_EXPECT_EQ(fake_message.len, pvb_cm_pack(wanted, "busy", 4, NULL));
	CT_EXPECT_MEMEQ(fake_message.data, wanted, sizeof(wanted));
	fi_freeinfo(info);

	CT_EXPECT_EQ(fi_setopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RAW_CM_DATA, &on,
			       sizeof(on)),
		     0);
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, data, sizeof(data)), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, "busy", 4), 0);
	CT_EXPECT_EQ(fake_message.len, 4);
	CT_EXPECT_MEMEQ(fake_message.data, "busy", 4);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_request, a_refusal_that_rdma_cm_refuses_ends_the_request_all_the_same)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	fake_fail(FAKE_REJECT, 1, ENOTCONN);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), -FI_ENOTCONN);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), -FI_EINVAL);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_request, a_requester_that_gave_up_needs_no_refusal)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	fake_event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	expect_no_event(w.eq);
	CT_EXPECT_EQ(fi_reject(pep, info->handle, NULL, 0), 0);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 0);
	fi_freeinfo(info);
	world_close_listening(&w, pep);
}

CT_TEST(cm_request,
	a_requester_that_gave_up_before_the_endpoint_was_made_is_told_by_accept)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct fid_ep *ep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	fake_event(id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	expect_no_event(w.eq);
	CT_ASSERT_TRUE(take_request(&w, info, &ep));
	CT_EXPECT_EQ(fi_accept(ep, NULL, 0), -FI_ECONNABORTED);
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	world_close_listening(&w, pep);
}

/* One still in the channel, one in the queue, one read: world_close counts what is left.
 */
CT_TEST(cm_request, closing_a_listener_ends_its_requests_wherever_they_are)
{
	struct rdma_cm_id *id;
	struct fi_info *info;
	struct fid_pep *pep;
	struct world w;

	CT_ASSERT_TRUE(world_open_listening(&w, &pep));
	info = next_request(&w, pep, &id);
	CT_ASSERT_NE(info, NULL);
	fi_freeinfo(info);
	request_arrives(pep, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(w.fabric, (struct fid *[]){&w.eq->fid}, 1), -FI_EAGAIN);
	request_arrives(pep, NULL, 0);
	CT_EXPECT_EQ(fi_close(&pep->fid), 0);
	expect_no_event(w.eq);
	world_close(&w);
}
