/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a connection request: taken, rejected, given up, forgotten. */
#include <errno.h>
#include "../world_cm.h"

CT_FIXTURE(cm_request, struct world, world_start_requested, world_close);

static int reject(struct world *w, const void *data, size_t len)
{
	return fi_reject(w->pep, w->request->handle, data, len);
}

static void refuse(struct world *w)
{
	fake_fail(FAKE_REJECT, 1, ENOTCONN);
}

static void give_up(struct world *w)
{
	fake_event(w->id, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, NULL, 0);
	expect_no_event(w->eq);
}

static void take(struct world *w)
{
	CT_EXPECT_EQ(fi_endpoint(w->domain, w->request, &w->ep, NULL), 0);
}

static void listen_raw(struct world *w)
{
	set_raw(&w->pep->fid);
	fi_freeinfo(w->request);
	w->request = next_request(w, w->pep, &w->id);
}

CT_TEST_F(cm_request, a_rejection_has_its_outcome)
{
	static const uint8_t zeros[PVB_CM_REQ_SIZE + 1];
	static const struct {
		const char *name;
		void (*before)(struct world *w);
		const void *data;
		size_t len;
		int ret, again; /* of the call, and of a second one without data */
		unsigned int rejects;
	} rows[] = {
		{"without data", NULL, NULL, 0, 0, -FI_EINVAL, 1},
		{"data", NULL, "busy", 4, 0, -FI_EINVAL, 1},
		{"too long", NULL, zeros, PVB_CM_APP_SIZE + 1, -FI_EINVAL, 0, 1},
		{"raw", listen_raw, "busy", 4, 0, -FI_EINVAL, 1},
		{"raw, too long", listen_raw, zeros, sizeof(zeros), -FI_EINVAL, 0, 1},
		/* It ends all the same. */
		{"refused by rdma_cm", refuse, NULL, 0, -FI_ENOTCONN, -FI_EINVAL, 1},
		{"the requester gave up", give_up, NULL, 0, 0, -FI_EINVAL, 0},
		{"taken by an endpoint", take, NULL, 0, -FI_EINVAL, -FI_EINVAL, 0},
	};
	uint8_t packed[PVB_CM_REQ_SIZE];

	for (size_t i = 0; i < CRN_COUNT(rows); i++) {
		const bool raw = rows[i].before == listen_raw;

		CT_NOTE("%s", rows[i].name);
		world_close(t);
		world_start_requested(t);
		CT_ASSERT_NE(t->request, NULL);
		if (rows[i].before)
			rows[i].before(t);
		CT_EXPECT_EQ(reject(t, rows[i].data, rows[i].len), rows[i].ret);
		if (rows[i].data && !rows[i].ret) {
			CT_EXPECT_EQ(fake_message.len,
				     raw ? 4 : pvb_cm_pack(packed, "busy", 4, NULL));
			CT_EXPECT_MEMEQ(fake_message.data, raw ? "busy" : (void *)packed,
					fake_message.len);
		}
		CT_EXPECT_EQ(reject(t, NULL, 0), rows[i].again);
		CT_EXPECT_EQ(fake_count(FAKE_REJECT), rows[i].rejects);
	}
}

CT_TEST_F(cm_request, only_a_request_of_the_listener_is_rejected)
{
	struct fid_pep *other;

	CT_ASSERT_TRUE(world_listen(t, &other));
	CT_EXPECT_EQ(fi_reject(other, t->request->handle, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(t->pep, NULL, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fi_reject(t->pep, &t->pep->fid, NULL, 0), -FI_EINVAL);
	CT_EXPECT_EQ(fake_count(FAKE_REJECT), 0);
	CT_EXPECT_EQ(reject(t, NULL, 0), 0);
	CT_EXPECT_EQ(fi_close(&other->fid), 0);
}

CT_TEST_F(cm_request, a_request_is_taken_once)
{
	struct fid_ep *second;

	take(t);
	CT_EXPECT_EQ(fi_endpoint(t->domain, t->request, &second, NULL), -FI_EINVAL);
}

CT_TEST_F(cm_request,
	  a_requester_that_gave_up_before_the_endpoint_was_made_is_told_by_accept)
{
	give_up(t);
	CT_ASSERT_TRUE(world_take_request(t));
	CT_EXPECT_EQ(fi_accept(t->ep, NULL, 0), -FI_ECONNABORTED);
}

/* One still in the channel, one in the queue, one read: world_close counts what is left.
 */
CT_TEST_F(cm_request, closing_a_listener_ends_its_requests_wherever_they_are)
{
	request_arrives(t->pep, NULL, 0);
	CT_EXPECT_EQ(fi_trywait(t->fabric, (struct fid *[]){&t->eq->fid}, 1), -FI_EAGAIN);
	request_arrives(t->pep, NULL, 0);
	close_object(t->pep);
	expect_no_event(t->eq);
}
