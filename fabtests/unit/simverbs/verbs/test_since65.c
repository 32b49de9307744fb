/* SPDX-License-Identifier: BSD-2-Clause */
/* What rdma-core 65 adds: verbs/buf.c, cm/addrinfo.c, and what is refused. */
#include <unistd.h>
#include "cm/cm.h"
#include "../world.h"

int rdma_write_cm_event(struct rdma_cm_id *id, enum rdma_cm_event_type type, int status,
			uint64_t arg);

static struct ibv_mr *reg_mr_ex(struct ibv_pd *pd, struct svb_mr_init_attr *attr)
{
	return ibv_reg_mr_ex(pd, (struct ibv_mr_init_attr *)attr);
}

CT_FIXTURE(since65, struct pair, pair_open, pair_close);

CT_TEST_F(since65, a_buffer_is_registered_in_its_domain_and_within_its_bounds)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct ibv_buf *buf;
	struct ibv_mr *mr;
	char *at;
	struct ibv_pd *other = ibv_alloc_pd(t->a.ctx);

	at = ibv_alloc_buf(t->a.pd, 100, &buf);
	CT_ASSERT_TRUE(at && other);
	CT_EXPECT_EQ((uintptr_t)at % page, 0);
	mr = ibv_reg_buf_mr(t->a.pd, buf, at + 1, 99, IBV_ACCESS_LOCAL_WRITE);
	CT_ASSERT_TRUE(mr != NULL);
	CT_EXPECT_TRUE(mr->addr == at + 1 && mr->length == 99);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	EXPECT_ERRNO(ibv_reg_buf_mr(t->a.pd, buf, at + 1, 100, 0), NULL, EINVAL);
	EXPECT_ERRNO(ibv_reg_buf_mr(t->a.pd, buf, at - 1, 1, 0), NULL, EINVAL);
	EXPECT_ERRNO(ibv_reg_buf_mr(other, buf, at, 1, 0), NULL, EINVAL);
	EXPECT_ERRNO(ibv_export_buf_dmabuf_fd(buf), -1, ENODATA);
	ibv_free_buf(buf);
	EXPECT_ERRNO(ibv_alloc_buf(t->a.pd, 0, &buf), NULL, EINVAL);
	CT_EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

CT_TEST_F(since65, extended_registration_knows_addresses_and_refuses_descriptors)
{
	struct svb_mr_init_attr attr = {.length = 8, .access = IBV_ACCESS_LOCAL_WRITE};
	struct ibv_mr *mr;

	attr.addr = t->a.memory;
	EXPECT_ERRNO(reg_mr_ex(t->a.pd, &attr), NULL, EINVAL);
	attr.comp_mask = SVB_REG_MR_ADDR;
	mr = reg_mr_ex(t->a.pd, &attr);
	CT_ASSERT_TRUE(mr != NULL);
	CT_EXPECT_TRUE(mr->addr == t->a.memory && mr->length == 8);
	CT_EXPECT_EQ(ibv_dereg_mr(mr), 0);
	/* As ibv_reg_mr_iova: with the same place in a page only. */
	attr.comp_mask |= SVB_REG_MR_IOVA;
	attr.iova = (uintptr_t)t->a.memory + 1;
	EXPECT_ERRNO(reg_mr_ex(t->a.pd, &attr), NULL, EINVAL);
	attr.comp_mask = SVB_REG_MR_FD;
	EXPECT_ERRNO(reg_mr_ex(t->a.pd, &attr), NULL, EOPNOTSUPP);
	attr.comp_mask = SVB_REG_MR_ADDR | SVB_REG_MR_DMAH;
	EXPECT_ERRNO(reg_mr_ex(t->a.pd, &attr), NULL, EOPNOTSUPP);
}

CT_TEST_F(since65, a_port_says_how_fast_it_is)
{
	uint64_t speed = 0;

	CT_EXPECT_EQ(ibv_query_port_speed(t->a.ctx, 1, &speed), 0);
	CT_EXPECT_EQ(speed, 1000);
	CT_EXPECT_EQ(ibv_query_port_speed(t->a.ctx, 9, &speed), EINVAL);
}

CT_TEST_F(since65, counters_and_dma_handles_are_refused)
{
	uint64_t value;

	EXPECT_ERRNO(ibv_alloc_dmah(t->a.ctx, NULL), NULL, EOPNOTSUPP);
	EXPECT_ERRNO(ibv_create_comp_cntr(t->a.ctx, NULL), NULL, EOPNOTSUPP);
	CT_EXPECT_EQ(_ibv_query_comp_cntr_caps(t->a.ctx, (void *)&value, sizeof(value)),
		     EOPNOTSUPP);
	CT_EXPECT_EQ(value, 0);
	CT_EXPECT_EQ(ibv_read_comp_cntr(NULL, &value), EOPNOTSUPP);
	EXPECT_ERRNO(ibv_dm_export_dmabuf_fd(NULL), -1, EOPNOTSUPP);
	EXPECT_ERRNO(repoll_create(0), -1, EOPNOTSUPP);
}

CT_TEST_F(since65, an_event_of_the_programs_own_comes_as_it_was_written)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	uint64_t arg = 0;
	struct rdma_event_channel *channel = rdma_create_event_channel();

	CT_ASSERT_TRUE(channel != NULL);
	CT_ASSERT_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	EXPECT_ERRNO(rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0), -1,
		     EINVAL);
	CT_ASSERT_EQ(rdma_write_cm_event(id, (enum rdma_cm_event_type)SVB_CM_EVENT_USER,
					 -5, 0x1122334455667788),
		     0);
	CT_ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
	CT_EXPECT_TRUE((int)event->event == SVB_CM_EVENT_USER && event->id == id);
	CT_EXPECT_EQ(event->status, -5);
	memcpy(&arg, &event->param, sizeof(arg));
	CT_EXPECT_EQ(arg, 0x1122334455667788);
	rdma_ack_cm_event(event);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}

CT_TEST_F(since65, addresses_are_resolved_with_an_event_and_given_away_once)
{
	struct rdma_addrinfo hints = {.ai_flags = RAI_NUMERICHOST}, *info = NULL;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;
	struct rdma_event_channel *channel = rdma_create_event_channel();

	CT_ASSERT_TRUE(channel != NULL);
	CT_ASSERT_EQ(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	EXPECT_ERRNO(rdma_query_addrinfo(id, &info), -1, ENOENT);
	EXPECT_ERRNO(rdma_resolve_addrinfo(id, "no number", "1", &hints), -1, ENODATA);
	CT_ASSERT_EQ(rdma_resolve_addrinfo(id, "127.0.0.1", "7174", &hints), 0);
	CT_ASSERT_EQ(rdma_get_cm_event(channel, &event), 0);
	CT_EXPECT_TRUE((int)event->event == SVB_CM_EVENT_ADDRINFO_RESOLVED &&
		       event->id == id && !event->status);
	CT_EXPECT_STREQ(rdma_event_str(event->event), "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
	rdma_ack_cm_event(event);
	EXPECT_ERRNO(rdma_resolve_addrinfo(id, "127.0.0.1", "7174", &hints), -1, EBUSY);
	CT_ASSERT_EQ(rdma_query_addrinfo(id, &info), 0);
	CT_EXPECT_EQ(svb_cm_addr_port(info->ai_dst_addr), 7174);
	rdma_freeaddrinfo(info);
	/* What nobody has asked for goes with its id. */
	CT_EXPECT_EQ(rdma_resolve_addrinfo(id, "127.0.0.1", "7174", &hints), 0);
	hints.ai_flags |= SVB_RAI_SA;
	EXPECT_ERRNO(rdma_resolve_addrinfo(id, NULL, "7174", &hints), -1, EOPNOTSUPP);
	rdma_destroy_id(id);
	rdma_destroy_event_channel(channel);
}
