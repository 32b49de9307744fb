/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory runs out somewhere in the life of a connection: the call that needed it fails,
 * or an event tells that something did. Nobody waits for what never comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "cm/cm.h"
#include "step.h"
#include "../world.h"

#define PATIENCE CT_DEADLINE_MS
#define MOST 200 /* allocations of a life */

enum ending { WHOLE, FAILED, REPORTED, SILENT, OTHER };

struct life {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener, *active, *passive;
	enum ending ending;
};

static bool called(struct life *life, int ret)
{
	/* ENODEV: the process could not join, so it has no devices. */
	if (ret)
		life->ending = errno == ENOMEM || errno == ENODEV ? FAILED : OTHER;
	return !ret;
}

/* The next event is of that type. */
static bool heard(struct life *life, enum rdma_cm_event_type type)
{
	struct pollfd fd = {.fd = life->channel->fd, .events = POLLIN};
	struct rdma_cm_event *event;
	bool expected;

	if (poll(&fd, 1, PATIENCE) != 1) {
		life->ending = SILENT;
		return false;
	}
	if (!called(life, rdma_get_cm_event(life->channel, &event)))
		return false;
	/* Comes when it likes. */
	if (event->event == RDMA_CM_EVENT_TIMEWAIT_EXIT) {
		rdma_ack_cm_event(event);
		return heard(life, type);
	}
	expected = event->event == type;
	if (!expected)
		life->ending = REPORTED;
	else if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		life->passive = event->id;
	rdma_ack_cm_event(event);
	return expected;
}

static bool resolves(struct life *life, struct sockaddr *at)
{
	return called(life, rdma_resolve_addr(life->active, NULL, at, 1000)) &&
	       heard(life, RDMA_CM_EVENT_ADDR_RESOLVED) &&
	       called(life, rdma_resolve_route(life->active, 1000)) &&
	       heard(life, RDMA_CM_EVENT_ROUTE_RESOLVED);
}

static bool connects(struct life *life)
{
	struct rdma_conn_param param = {.qp_num = 1};

	return called(life, rdma_connect(life->active, &param)) &&
	       heard(life, RDMA_CM_EVENT_CONNECT_REQUEST) &&
	       called(life, rdma_accept(life->passive, &param)) &&
	       heard(life, RDMA_CM_EVENT_CONNECT_RESPONSE) &&
	       called(life, rdma_establish(life->active)) &&
	       heard(life, RDMA_CM_EVENT_ESTABLISHED);
}

static bool lives(struct life *life)
{
	struct sockaddr_in any = {.sin_family = AF_INET}, at;

	life->channel = rdma_create_event_channel();
	if (!called(life, life->channel ? 0 : -1) ||
	    !called(life,
		    rdma_create_id(life->channel, &life->listener, NULL, RDMA_PS_TCP)) ||
	    !called(life, rdma_bind_addr(life->listener, (struct sockaddr *)&any)) ||
	    !called(life, rdma_listen(life->listener, 1)) ||
	    !called(life,
		    rdma_create_id(life->channel, &life->active, NULL, RDMA_PS_TCP)))
		return false;
	at = *(struct sockaddr_in *)rdma_get_local_addr(life->listener);
	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return resolves(life, (struct sockaddr *)&at) && connects(life) &&
	       called(life, rdma_disconnect(life->active)) &&
	       heard(life, RDMA_CM_EVENT_DISCONNECTED) &&
	       called(life, rdma_disconnect(life->passive)) &&
	       heard(life, RDMA_CM_EVENT_DISCONNECTED);
}

/* Of the process that lives it: which allocation fails. */
static unsigned int nth;

/* A process of its own: it starts with nothing. */
static int live(int fd)
{
	struct life life = {0};
	bool failed, whole;

	ct_fail_alloc(nth);
	whole = lives(&life);
	failed = ct_alloc_failed();
	if (life.passive)
		rdma_destroy_id(life.passive);
	if (life.active)
		rdma_destroy_id(life.active);
	if (life.listener)
		rdma_destroy_id(life.listener);
	if (life.channel)
		rdma_destroy_event_channel(life.channel);
	return (int)(whole ? WHOLE : life.ending) << 1 | failed;
}

CT_TEST(cm_memory, that_runs_out_fails_a_call_or_is_reported)
{
	unsigned int silent = 0;
	int ended = 0, fd;
	pid_t pid;

	for (nth = 1; nth < MOST; nth++) {
		fd = world_child(live, &pid);
		CT_ASSERT_GE(fd, 0);
		ended = world_reap(pid);
		close(fd);
		if (!(ended & 1))
			break;
		if (ended >> 1 > REPORTED && !silent)
			silent = nth;
	}
	CT_EXPECT_EQ(silent, 0);
	/* And the last one needed no more. */
	CT_EXPECT_EQ(ended, WHOLE << 1);
	CT_EXPECT_GT(nth, 10);
}

/* A listener without a thread: what arrives is taken apart by who looks. */
#define REQUESTS 6

/* Refuses what it is asked, until the client has its answer and says so. */
static void refuse_until_told(struct rdma_event_channel *channel, int told)
{
	struct pollfd fds[] = {{.fd = channel->fd, .events = POLLIN},
			       {.fd = told, .events = POLLIN}};
	struct rdma_cm_event *event;

	while (poll(fds, 2, -1) > 0 && !fds[1].revents) {
		/* It may be readable with no event behind it. */
		if (rdma_get_cm_event(channel, &event))
			continue;
		rdma_reject(event->id, NULL, 0);
		rdma_destroy_id(event->id);
		rdma_ack_cm_event(event);
	}
}

static int listen_poorly(int fd)
{
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;
	bool failed = false;
	uint16_t port;

	if (svb_join())
		return 99;
	svb_self.settings.threads = false;
	channel = rdma_create_event_channel();
	fcntl(channel->fd, F_SETFL, fcntl(channel->fd, F_GETFL) | O_NONBLOCK);
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *)&any) || rdma_listen(listener, 8))
		return 100;
	port = rdma_get_src_port(listener);
	if (write(fd, &port, sizeof(port)) != sizeof(port))
		return 101;
	for (unsigned int i = 0; i < REQUESTS; i++) {
		if (!world_hear(fd))
			return 102;
		/* The note of the request, its id, or the event: in one case there is no
		 * event, but an answer. */
		ct_fail_alloc(i % 3 + 1);
		refuse_until_told(channel, fd);
		failed |= ct_alloc_failed();
	}
	return failed ? 0 : 103;
}

/* The answer to a request: an event of the client's. */
static bool is_answered(uint16_t port)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = port,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_conn_param param = {.qp_num = 1};
	struct life life = {.channel = rdma_create_event_channel()};
	bool answered = life.channel &&
			!rdma_create_id(life.channel, &life.active, NULL, RDMA_PS_TCP) &&
			resolves(&life, (struct sockaddr *)&at) &&
			!rdma_connect(life.active, &param) &&
			heard(&life, RDMA_CM_EVENT_REJECTED);

	rdma_destroy_id(life.active);
	rdma_destroy_event_channel(life.channel);
	return answered;
}

CT_TEST(cm_memory, that_a_listener_lacks_leaves_no_client_without_an_answer)
{
	uint16_t port;
	pid_t pid;
	int fd = world_child(listen_poorly, &pid);

	CT_ASSERT_GE(fd, 0);
	CT_ASSERT_EQ(recv(fd, &port, sizeof(port), MSG_WAITALL), sizeof(port));
	for (unsigned int i = 0; i < REQUESTS && world_tell(fd); i++)
		CT_EXPECT_TRUE(is_answered(port));
	CT_EXPECT_TRUE(world_tell(fd));
	CT_EXPECT_EQ(world_reap(pid), 0);
	close(fd);
}

/* The first call that needs messages: without them no answer would come. */
WORLD_CHILD(cm_memory, that_messages_lack_fails_the_call_that_connects)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(1),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct rdma_conn_param param = {.qp_num = 1};
	struct life life = {.channel = rdma_create_event_channel()};

	CT_ASSERT_TRUE(!rdma_create_id(life.channel, &life.active, NULL, RDMA_PS_TCP) &&
		       resolves(&life, (struct sockaddr *)&at));
	ct_fail_alloc(1);
	CT_EXPECT_NE(rdma_connect(life.active, &param), 0);
	CT_EXPECT_EQ(errno, ENOMEM);
	CT_EXPECT_TRUE(ct_alloc_failed());
}
