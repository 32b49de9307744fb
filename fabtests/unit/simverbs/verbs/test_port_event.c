/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs/port_event.c, verbs/request.c; what rdma_cm makes of it: cm/test_mcast.c. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "../world.h"

/* Children say by their exit status which line did not find what it looked for. */
#define MUST(condition)                            \
	do {                                       \
		if (!(condition))                  \
			return __LINE__ % 255 + 1; \
	} while (0)

static bool readable(int fd, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};

	return poll(&pollfd, 1, ms) == 1;
}

static int event_of(struct ibv_context *ctx)
{
	struct ibv_async_event event;

	if (!readable(ctx->async_fd, CT_DEADLINE_MS) || ibv_get_async_event(ctx, &event))
		return -1;
	ibv_ack_async_event(&event);
	return event.element.port_num == 1 ? (int)event.event_type : -2;
}

static enum ibv_port_state state(struct ibv_context *ctx)
{
	struct ibv_port_attr port = {0};

	return ibv_query_port(ctx, 1, &port) ? IBV_PORT_NOP : port.state;
}

/* The status of a write of a to b, which has to be connected to it. */
static int connection(void)
{
	struct address to;
	struct end a, b;
	int status;

	if (!world_pair(&a, &b))
		return -1;
	to = world_address(&b);
	status =
		world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0) ? -1 : world_status(a.cq);
	world_pair_close(&a, &b);
	return status;
}

static int goes_down(int fd)
{
	struct end a;

	(void)fd;
	MUST(world_open(&a, IBV_QPT_RC, false));
	MUST(state(a.ctx) == IBV_PORT_ACTIVE && connection() == IBV_WC_SUCCESS);
	MUST(svb_port_event_do(0, "port_err"));
	MUST(event_of(a.ctx) == IBV_EVENT_PORT_ERR);
	MUST(state(a.ctx) == IBV_PORT_DOWN && connection() == IBV_WC_RETRY_EXC_ERR);
	MUST(svb_port_event_do(0, "port_active"));
	MUST(event_of(a.ctx) == IBV_EVENT_PORT_ACTIVE);
	MUST(state(a.ctx) == IBV_PORT_ACTIVE && connection() == IBV_WC_SUCCESS);
	world_close(&a);
	return 0;
}

/* A connection that was there before stands still and goes on. */
static int comes_back(int fd)
{
	struct address to;
	struct end a, b;

	(void)fd;
	setenv("SIMVERBS_RETRY_MS", "600000", 1);
	svb_self.settings.devices = 0;
	MUST(world_open(&a, IBV_QPT_RC, false) && world_open(&b, IBV_QPT_RC, false));
	to = world_address(&a);
	MUST(world_rtr(&b, &to) && world_rts(&b, 31, 7));
	to = world_address(&b);
	MUST(world_rtr(&a, &to) && world_rts(&a, 31, 7));
	MUST(svb_port_event_do(0, "port_err"));
	MUST(!world_rdma(&a, IBV_WR_RDMA_WRITE, 0, 8, &to, 0));
	MUST(world_quiet(a.cq));
	MUST(svb_port_event_do(0, "port_active"));
	MUST(world_status(a.cq) == IBV_WC_SUCCESS);
	world_pair_close(&a, &b);
	return 0;
}

static int each_event(int fd)
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
	size_t i;

	(void)fd;
	MUST(world_open(&a, IBV_QPT_UD, false));
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		MUST(svb_port_event_do(0, rows[i].name));
		MUST(event_of(a.ctx) == (int)rows[i].type);
	}
	MUST(!svb_port_event_do(0, "earthquake") && !svb_port_event_do(99, "sm_change"));
	MUST(svb_port_event_do(0, "addr_change") && !readable(a.ctx->async_fd, 0));
	world_close(&a);
	return 0;
}

static bool ask(const char *what, int pid)
{
	char path[256];
	int file;

	snprintf(path, sizeof(path), "%s/events/sim0:1=%s@%d", svb_self.dir, what, pid);
	file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	return file >= 0 && !close(file) && !unlink(path);
}

static int hears(int fd)
{
	struct end a;

	(void)fd;
	setenv("SIMVERBS_EVENTS", "on", 1);
	svb_self.settings.devices = 0;
	MUST(world_open(&a, IBV_QPT_UD, false));
	MUST(ask("port_err", getpid() + 1) && ask("earthquake", getpid()) &&
	     ask("sm_change", getpid()));
	MUST(event_of(a.ctx) == IBV_EVENT_SM_CHANGE && state(a.ctx) == IBV_PORT_ACTIVE);
	world_close(&a);
	return 0;
}

static void in_child(int (*fn)(int fd))
{
	pid_t pid;
	int fd = world_child(fn, &pid);

	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

CT_TEST(port_event, nothing_passes_a_port_that_is_down)
{
	in_child(goes_down);
}

CT_TEST(port_event, what_waits_goes_on_when_the_port_comes_back)
{
	in_child(comes_back);
}

CT_TEST(port_event, contexts_read_each_event)
{
	in_child(each_event);
}

CT_TEST(port_event, a_file_is_a_request_to_its_process)
{
	in_child(hears);
}
