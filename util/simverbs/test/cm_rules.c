/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Rules of rdma_cm that programs rely on, as statements: run under simverbs, and on a
 * machine with an adapter without it. Both ends are in this process unless a test says
 * so. Prints the rules that do not hold; ends with 0 when all do.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ms: for any event */
#define PATIENCE 60000

static int broken;

#define RULE(rule)                                                                   \
	do {                                                                         \
		if (!(rule)) {                                                       \
			printf("%s:%d: broken: %s (errno %d)\n", __FILE__, __LINE__, \
			       #rule, errno);                                        \
			broken++;                                                    \
		}                                                                    \
	} while (0)

static struct rdma_event_channel *channel;

static struct sockaddr_in loopback(uint16_t port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static struct rdma_cm_event *next_event(struct rdma_event_channel *from)
{
	struct pollfd fd = {.fd = from->fd, .events = POLLIN};
	struct rdma_cm_event *event;

	if (poll(&fd, 1, PATIENCE) != 1 || rdma_get_cm_event(from, &event))
		return NULL;
	return event;
}

/* Takes the next event and says whether it is that one, with that status. */
static bool expect(enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *event = next_event(channel);
	bool same = event && event->event == type && event->status == status;

	if (!same)
		printf("%s with %d, not %s with %d\n",
		       event ? rdma_event_str(event->event) : "nothing",
		       event ? event->status : 0, rdma_event_str(type), status);
	if (event)
		rdma_ack_cm_event(event);
	return same;
}

static struct rdma_cm_id *new_id(enum rdma_port_space ps)
{
	struct rdma_cm_id *id = NULL;

	RULE(!rdma_create_id(channel, &id, NULL, ps));
	return id;
}

static struct rdma_cm_id *new_listener(enum rdma_port_space ps, int backlog)
{
	struct sockaddr_in addr = loopback(0);
	struct rdma_cm_id *id = new_id(ps);

	RULE(!rdma_bind_addr(id, (struct sockaddr *)&addr));
	RULE(!rdma_listen(id, backlog));
	return id;
}

static struct rdma_cm_id *new_requester(enum rdma_port_space ps, uint16_t port)
{
	struct sockaddr_in addr = loopback(port);
	struct rdma_cm_id *id = new_id(ps);

	RULE(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, PATIENCE));
	RULE(expect(RDMA_CM_EVENT_ADDR_RESOLVED, 0));
	RULE(id->verbs != NULL && id->pd != NULL && id->port_num == 1);
	RULE(!rdma_resolve_route(id, PATIENCE));
	RULE(expect(RDMA_CM_EVENT_ROUTE_RESOLVED, 0));
	return id;
}

static struct rdma_conn_param param(const void *data, uint8_t len)
{
	return (struct rdma_conn_param){
		.private_data = data,
		.private_data_len = len,
		.responder_resources = 3,
		.initiator_depth = 5,
		.retry_count = 7,
		.rnr_retry_count = 6,
		.qp_num = 0x1234,
	};
}

/* A request from one id to a listener; its id, the event being given back. */
static struct rdma_cm_id *request(struct rdma_cm_id *from,
				  const struct rdma_conn_param *with)
{
	struct rdma_conn_param copy = *with;
	struct rdma_cm_event *event;
	struct rdma_cm_id *id = NULL;

	RULE(!rdma_connect(from, &copy));
	event = next_event(channel);
	RULE(event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		exit(1);
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

/* Pairs whose queue pairs the program manages, connected. */
static void connected(struct rdma_cm_id *listener, struct rdma_cm_id **active,
		      struct rdma_cm_id **passive)
{
	struct rdma_conn_param with = param("", 0);

	*active = new_requester(RDMA_PS_TCP, ntohs(rdma_get_src_port(listener)));
	*passive = request(*active, &with);
	RULE(!rdma_accept(*passive, &with));
	RULE(expect(RDMA_CM_EVENT_CONNECT_RESPONSE, 0));
	RULE(!rdma_establish(*active));
	RULE(expect(RDMA_CM_EVENT_ESTABLISHED, 0));
}

static void an_empty_channel_is_not_readable(void)
{
	struct pollfd fd = {.fd = channel->fd, .events = POLLIN};
	int flags = fcntl(channel->fd, F_GETFL);
	struct rdma_cm_event *event;

	RULE(poll(&fd, 1, 0) == 0);
	fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK);
	RULE(rdma_get_cm_event(channel, &event) == -1 && errno == EAGAIN);
	fcntl(channel->fd, F_SETFL, flags);
}

static void ports_belong_to_one(void)
{
	struct sockaddr_in addr = loopback(0), any = {.sin_family = AF_INET};
	struct rdma_cm_id *first = new_id(RDMA_PS_TCP), *second = new_id(RDMA_PS_TCP);
	struct rdma_cm_id *other = new_id(RDMA_PS_UDP);

	RULE(!rdma_bind_addr(first, (struct sockaddr *)&addr));
	RULE(rdma_get_src_port(first) != 0);
	RULE(rdma_bind_addr(first, (struct sockaddr *)&addr) && errno == EINVAL);
	addr.sin_port = any.sin_port = rdma_get_src_port(first);
	RULE(rdma_bind_addr(second, (struct sockaddr *)&addr) && errno == EADDRINUSE);
	RULE(rdma_bind_addr(second, (struct sockaddr *)&any) && errno == EADDRNOTAVAIL);
	RULE(!rdma_bind_addr(other, (struct sockaddr *)&addr));
	rdma_destroy_id(first);
	RULE(!rdma_bind_addr(second, (struct sockaddr *)&any) && second->verbs == NULL);
	rdma_destroy_id(second);
	rdma_destroy_id(other);
}

static void strange_addresses_are_refused(void)
{
	struct sockaddr_in addr = {.sin_family = AF_INET};
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	inet_pton(AF_INET, "203.0.113.77", &addr.sin_addr);
	RULE(rdma_bind_addr(id, (struct sockaddr *)&addr) && errno == EADDRNOTAVAIL);
	addr.sin_family = AF_UNIX;
	RULE(rdma_bind_addr(id, (struct sockaddr *)&addr) && errno != 0);
	addr.sin_family = AF_INET;
	RULE(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, 100));
	RULE(expect(RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH));
	rdma_destroy_id(id);
}

static void calls_out_of_order_are_refused(void)
{
	struct rdma_conn_param with = param("", 0);
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);

	RULE(rdma_connect(id, &with) && errno == EINVAL);
	RULE(rdma_accept(id, &with) && errno == EINVAL);
	RULE(rdma_resolve_route(id, 1) && errno == EINVAL);
	RULE(rdma_disconnect(id) && errno == EINVAL);
	RULE(rdma_reject(id, NULL, 0) && errno == EINVAL);
	RULE(rdma_establish(id) && errno == EINVAL);
	rdma_destroy_id(id);
}

static void nobody_listening_is_a_rejection(void)
{
	struct rdma_cm_id *listener = new_listener(RDMA_PS_TCP, 1), *id;
	uint16_t port = ntohs(rdma_get_src_port(listener));
	struct rdma_conn_param with = param("", 0);

	rdma_destroy_id(listener);
	id = new_requester(RDMA_PS_TCP, port);
	RULE(!rdma_connect(id, &with));
	RULE(expect(RDMA_CM_EVENT_REJECTED, 8));
	rdma_destroy_id(id);
}

static void private_data_is_padded(void)
{
	struct rdma_cm_id *listener = new_listener(RDMA_PS_TCP, 1);
	struct rdma_cm_id *id =
		new_requester(RDMA_PS_TCP, ntohs(rdma_get_src_port(listener)));
	static const uint8_t bytes[200] = {1, 2, 3}, zeroes[200];
	struct rdma_conn_param with = param(bytes, 57);
	struct rdma_cm_event *event;
	struct rdma_cm_id *passive;

	RULE(rdma_connect(id, &with) && errno == EINVAL);
	with.private_data_len = 3;
	RULE(!rdma_connect(id, &with));
	event = next_event(channel);
	RULE(event->event == RDMA_CM_EVENT_CONNECT_REQUEST &&
	     event->listen_id == listener);
	RULE(event->param.conn.private_data_len == 56);
	RULE(!memcmp(event->param.conn.private_data, bytes, 3));
	RULE(!memcmp((uint8_t *)event->param.conn.private_data + 3, zeroes, 53));
	RULE(event->param.conn.responder_resources == 5);
	RULE(event->param.conn.initiator_depth == 3);
	RULE(event->param.conn.qp_num == 0x1234 &&
	     event->param.conn.rnr_retry_count == 6);
	passive = event->id;
	rdma_ack_cm_event(event);
	with.private_data_len = 197;
	RULE(rdma_accept(passive, &with) && errno == EINVAL);
	RULE(rdma_reject(passive, bytes, 149) && errno == EINVAL);
	RULE(!rdma_reject(passive, bytes, 3));
	event = next_event(channel);
	RULE(event->event == RDMA_CM_EVENT_REJECTED && event->status == 28 &&
	     event->id == id);
	RULE(event->param.conn.private_data_len == 148);
	RULE(!memcmp(event->param.conn.private_data, bytes, 148));
	rdma_ack_cm_event(event);
	rdma_destroy_id(passive);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
}

static void a_full_backlog_rejects(void)
{
	struct rdma_cm_id *listener = new_listener(RDMA_PS_TCP, 1), *id[2];
	uint16_t port = ntohs(rdma_get_src_port(listener));
	struct rdma_conn_param with = param("", 0);
	int i;

	for (i = 0; i < 2; i++)
		id[i] = new_requester(RDMA_PS_TCP, port);
	for (i = 0; i < 2; i++)
		RULE(!rdma_connect(id[i], &with));
	/* The first waits unread when the second comes; the unread one dies with its
	 * listener. */
	rdma_destroy_id(listener);
	RULE(expect(RDMA_CM_EVENT_REJECTED, 28));
	RULE(expect(RDMA_CM_EVENT_REJECTED, 28));
	for (i = 0; i < 2; i++)
		rdma_destroy_id(id[i]);
}

static void each_side_learns_of_the_end_once(void)
{
	struct rdma_cm_id *listener = new_listener(RDMA_PS_TCP, 4), *active, *passive;
	struct pollfd fd = {.fd = channel->fd, .events = POLLIN};

	connected(listener, &active, &passive);
	RULE(!rdma_disconnect(active));
	RULE(expect(RDMA_CM_EVENT_DISCONNECTED, 0));
	RULE(poll(&fd, 1, 0) == 0);
	RULE(!rdma_disconnect(passive));
	RULE(expect(RDMA_CM_EVENT_DISCONNECTED, 0));
	RULE(poll(&fd, 1, 0) == 0);
	rdma_destroy_id(active);
	rdma_destroy_id(passive);

	connected(listener, &active, &passive);
	RULE(!rdma_disconnect(active) && !rdma_disconnect(passive));
	RULE(expect(RDMA_CM_EVENT_DISCONNECTED, 0) &&
	     expect(RDMA_CM_EVENT_DISCONNECTED, 0));
	rdma_destroy_id(active);
	rdma_destroy_id(passive);

	connected(listener, &active, &passive);
	rdma_destroy_id(active);
	RULE(expect(RDMA_CM_EVENT_DISCONNECTED, 0));
	RULE(!rdma_disconnect(passive));
	RULE(expect(RDMA_CM_EVENT_TIMEWAIT_EXIT, 0));
	rdma_destroy_id(passive);
	rdma_destroy_id(listener);
}

static void a_requester_that_goes_away_is_told(void)
{
	struct rdma_cm_id *listener = new_listener(RDMA_PS_TCP, 4), *active, *passive;
	struct rdma_conn_param with = param("", 0);

	active = new_requester(RDMA_PS_TCP, ntohs(rdma_get_src_port(listener)));
	passive = request(active, &with);
	rdma_destroy_id(active);
	RULE(expect(RDMA_CM_EVENT_REJECTED, 4));
	RULE(rdma_accept(passive, &with) && errno == EINVAL);
	rdma_destroy_id(passive);
	rdma_destroy_id(listener);
}

static void *acknowledge_late(void *event)
{
	usleep(100000);
	rdma_ack_cm_event(event);
	return NULL;
}

static void destroying_waits_for_acknowledgements(void)
{
	struct sockaddr_in addr = loopback(1);
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
	struct rdma_cm_event *event;
	struct timespec from, to;
	pthread_t thread;

	RULE(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, PATIENCE));
	event = next_event(channel);
	clock_gettime(CLOCK_MONOTONIC, &from);
	pthread_create(&thread, NULL, acknowledge_late, event);
	rdma_destroy_id(id);
	clock_gettime(CLOCK_MONOTONIC, &to);
	RULE((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000 >=
	     90);
	pthread_join(thread, NULL);
}

static void unread_events_go_with_their_id(void)
{
	struct rdma_event_channel *other = rdma_create_event_channel();
	struct pollfd fd = {.fd = channel->fd, .events = POLLIN};
	struct sockaddr_in addr = loopback(1);
	struct rdma_cm_id *id = new_id(RDMA_PS_TCP);
	struct rdma_cm_event *event;

	RULE(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&addr, PATIENCE));
	RULE(poll(&fd, 1, 0) == 1);
	RULE(!rdma_migrate_id(id, other));
	RULE(poll(&fd, 1, 0) == 0);
	fd.fd = other->fd;
	RULE(poll(&fd, 1, 0) == 1);
	event = next_event(other);
	RULE(event && event->id == id);
	rdma_ack_cm_event(event);
	RULE(!rdma_resolve_route(id, PATIENCE));
	RULE(poll(&fd, 1, 0) == 1);
	rdma_destroy_id(id);
	RULE(poll(&fd, 1, 0) == 0);
	rdma_destroy_event_channel(other);
}

/* Also where no thread hears what comes. */
static void a_channel_that_does_not_block_says_that_it_is_empty(void)
{
	struct rdma_cm_event *event;

	RULE(!fcntl(channel->fd, F_SETFL, O_NONBLOCK));
	RULE(rdma_get_cm_event(channel, &event) == -1 && errno == EAGAIN);
}

static void datagrams_learn_number_and_key(void)
{
	struct rdma_cm_id *listener = new_listener(RDMA_PS_UDP, 4), *active, *passive;
	uint16_t port = ntohs(rdma_get_src_port(listener));
	struct rdma_conn_param with = param("x", 1);
	struct rdma_cm_event *event;

	active = new_requester(RDMA_PS_UDP, port);
	passive = request(active, &with);
	RULE(!rdma_accept(passive, &with));
	event = next_event(channel);
	RULE(event->event == RDMA_CM_EVENT_ESTABLISHED && event->id == active);
	RULE(event->param.ud.qp_num == 0x1234 && event->param.ud.qkey == RDMA_UDP_QKEY);
	RULE(event->param.ud.private_data_len == 136 &&
	     event->param.ud.ah_attr.port_num == 1);
	rdma_ack_cm_event(event);
	RULE(rdma_disconnect(active) && errno == EINVAL);
	rdma_destroy_id(active);
	rdma_destroy_id(passive);

	active = new_requester(RDMA_PS_UDP, port);
	passive = request(active, &with);
	RULE(!rdma_reject(passive, NULL, 0));
	RULE(expect(RDMA_CM_EVENT_UNREACHABLE, 2));
	rdma_destroy_id(active);
	rdma_destroy_id(passive);
	rdma_destroy_id(listener);
}

/* A child connects, tells, and is killed when the connection stands. */
static void a_killed_peer_disconnects(void)
{
	struct rdma_conn_param with = param("", 0);
	struct rdma_cm_id *listener, *id;
	struct rdma_cm_event *event;
	int ports[2];
	uint16_t port;
	pid_t pid;

	RULE(!pipe(ports));
	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (read(ports[0], &port, sizeof(port)) != sizeof(port))
			_exit(1);
		channel = rdma_create_event_channel();
		id = new_requester(RDMA_PS_TCP, port);
		if (rdma_connect(id, &with) ||
		    !expect(RDMA_CM_EVENT_CONNECT_RESPONSE, 0) || rdma_establish(id))
			_exit(1);
		pause();
		_exit(0);
	}
	listener = new_listener(RDMA_PS_TCP, 4);
	port = ntohs(rdma_get_src_port(listener));
	RULE(write(ports[1], &port, sizeof(port)) == sizeof(port));
	event = next_event(channel);
	RULE(event && event->event == RDMA_CM_EVENT_CONNECT_REQUEST);
	if (!event)
		exit(1);
	id = event->id;
	rdma_ack_cm_event(event);
	RULE(!rdma_accept(id, &with));
	RULE(expect(RDMA_CM_EVENT_ESTABLISHED, 0));
	kill(pid, SIGKILL);
	RULE(expect(RDMA_CM_EVENT_DISCONNECTED, 0));
	RULE(waitpid(pid, NULL, 0) == pid);
	rdma_destroy_id(id);
	rdma_destroy_id(listener);
	close(ports[0]);
	close(ports[1]);
}

/* With an argument only what holds without threads. */
int main(int argc, char **argv)
{
	static void (*const tests[])(void) = {
		a_channel_that_does_not_block_says_that_it_is_empty,
		an_empty_channel_is_not_readable,
		ports_belong_to_one,
		strange_addresses_are_refused,
		calls_out_of_order_are_refused,
		nobody_listening_is_a_rejection,
		private_data_is_padded,
		a_full_backlog_rejects,
		each_side_learns_of_the_end_once,
		a_requester_that_goes_away_is_told,
		destroying_waits_for_acknowledgements,
		unread_events_go_with_their_id,
		datagrams_learn_number_and_key,
		a_killed_peer_disconnects,
	};
	const size_t count = argc > 1 ? 2 : sizeof(tests) / sizeof(tests[0]);
	size_t i;

	alarm(300);
	for (i = 0; i < count; i++) {
		channel = rdma_create_event_channel();
		RULE(channel != NULL);
		if (!channel)
			return 1;
		tests[i]();
		rdma_destroy_event_channel(channel);
	}
	printf("%zu tests, %d rules broken\n", i, broken);
	return broken != 0;
}
