/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/port_event.c, verbs/request.c; what rdma_cm makes of it: cm/test_mcast.c. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "../world.h"

static int event_of(struct ibv_context *ctx)
{
	struct ibv_async_event event;

	if (!world_readable(ctx->async_fd, CT_DEADLINE_MS) ||
	    ibv_get_async_event(ctx, &event))
		return -1;
	ibv_ack_async_event(&event);
	return event.element.port_num == 1 ? (int)event.event_type : -2;
}

static enum ibv_port_state state(struct ibv_context *ctx)
{
	struct ibv_port_attr port = {0};

	return ibv_query_port(ctx, 1, &port) ? IBV_PORT_NOP : port.state;
}

/* The status of a write of one end of a new connection to the other. */
static int connection(void)
{
	struct pair p;
	int status;

	pair_open(&p);
	status = pair_write(&p);
	pair_close(&p);
	return status;
}

WORLD_CHILD(port_event, nothing_passes_a_port_that_is_down)
{
	struct end a;

	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_RC, false));
	CT_EXPECT_EQ(state(a.ctx), IBV_PORT_ACTIVE);
	CT_EXPECT_EQ(connection(), IBV_WC_SUCCESS);
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_err"));
	CT_EXPECT_EQ(event_of(a.ctx), IBV_EVENT_PORT_ERR);
	CT_EXPECT_EQ(state(a.ctx), IBV_PORT_DOWN);
	CT_EXPECT_EQ(connection(), IBV_WC_RETRY_EXC_ERR);
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_active"));
	CT_EXPECT_EQ(event_of(a.ctx), IBV_EVENT_PORT_ACTIVE);
	CT_EXPECT_EQ(state(a.ctx), IBV_PORT_ACTIVE);
	CT_EXPECT_EQ(connection(), IBV_WC_SUCCESS);
	world_close(&a);
}

/* A connection that was there before stands still and goes on. */
WORLD_CHILD(port_event, what_waits_goes_on_when_the_port_comes_back)
{
	struct address to;
	struct pair p;

	world_settings("SIMVERBS_RETRY_MS", "600000", NULL);
	CT_ASSERT_TRUE(world_open(&p.a, IBV_QPT_RC, false) &&
		       world_open(&p.b, IBV_QPT_RC, false));
	to = world_address(&p.a);
	CT_ASSERT_TRUE(world_rtr(&p.b, &to) && world_rts(&p.b, 31, 7));
	to = world_address(&p.b);
	CT_ASSERT_TRUE(world_rtr(&p.a, &to) && world_rts(&p.a, 31, 7));
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_err"));
	CT_ASSERT_EQ(world_rdma(&p.a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0), 0);
	CT_EXPECT_TRUE(world_quiet(p.a.cq));
	CT_ASSERT_TRUE(svb_port_event_do(0, "port_active"));
	CT_EXPECT_EQ(world_status(p.a.cq), IBV_WC_SUCCESS);
	pair_close(&p);
}

WORLD_CHILD(port_event, contexts_read_each_event)
{
	static const struct {
		const char *name;
		enum ibv_event_type type;
	} rows[] = {
		{"lid_change", IBV_EVENT_LID_CHANGE},
		{"pkey_change", IBV_EVENT_PKEY_CHANGE},
		{"gid_change", IBV_EVENT_GID_CHANGE},
		{"sm_change", IBV_EVENT_SM_CHANGE},
		{"client_reregister", IBV_EVENT_CLIENT_REREGISTER},
	};
	struct end a;

	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_UD, false));
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CT_NOTE("%s", rows[i].name);
		CT_ASSERT_TRUE(svb_port_event_do(0, rows[i].name));
		CT_EXPECT_EQ(event_of(a.ctx), rows[i].type);
	}
	CT_EXPECT_FALSE(svb_port_event_do(0, "earthquake"));
	CT_EXPECT_FALSE(svb_port_event_do(99, "sm_change"));
	CT_EXPECT_TRUE(svb_port_event_do(0, "addr_change"));
	CT_EXPECT_FALSE(world_readable(a.ctx->async_fd, 0));
	world_close(&a);
}

static bool ask(const char *what, int pid)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), "%s/events/sim0:1=%s@%d", svb_self.dir, what, pid);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return file >= 0 && !close(file) && !unlink(path);
}

WORLD_CHILD(port_event, a_file_is_a_request_to_its_process)
{
	struct end a;

	world_settings("SIMVERBS_EVENTS", "on", NULL);
	CT_ASSERT_TRUE(world_open(&a, IBV_QPT_UD, false));
	CT_ASSERT_TRUE(ask("port_err", getpid() + 1) && ask("earthquake", getpid()) &&
		       ask("sm_change", getpid()));
	CT_EXPECT_EQ(event_of(a.ctx), IBV_EVENT_SM_CHANGE);
	CT_EXPECT_EQ(state(a.ctx), IBV_PORT_ACTIVE);
	world_close(&a);
}
