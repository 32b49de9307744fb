/* SPDX-License-Identifier: BSD-2-Clause */
/* Passive endpoints: requests that come and go. Peers speak for themselves here. */
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>
#include "cm/cm.h"
#include "ends.h"
#include "router.h"

#define ROUTER "router = tcp://127.0.0.1:1\n"

struct caller {
	struct rte_peer *peer;
	unsigned int ups, downs;
	int err;
	struct rte_conn_rep rep;
	unsigned int reps;
};

static struct router far;

static void caller_up(struct rte_peer *peer)
{
	((struct caller *)peer->user)->ups++;
}

static void caller_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct caller *caller = peer->user;

	if (rx->packet.head.type == RTE_CONN_REP) {
		CT_EXPECT_EQ(rte_conn_rep_parse(&caller->rep, &rx->packet), RTE_OK);
		caller->reps++;
	}
	rte_rx_put(rx);
}

static void caller_down(struct rte_peer *peer, int err)
{
	struct caller *caller = peer->user;

	caller->downs++;
	caller->err = err;
	rte_peer_close(peer, 0);
	caller->peer = NULL;
}

static const struct rte_peer_ops caller_ops = {
	.up = caller_up,
	.message = caller_message,
	.down = caller_down,
};

/* A listening peer, and the peers that connect to it from the router's port. */
struct scene {
	struct ends ends;
	struct caller caller, second;
	struct ends_event event;
	struct fi_info *request;
};

static void turn(struct scene *t)
{
	fi_eq_read(t->ends.eq, &t->event.event, t->event.room, sizeof(t->event.room),
		   FI_PEEK);
	router_turn(&far);
}

#define UNTIL(t, condition)                                                        \
	do {                                                                       \
		const uint64_t end_ = crn_now_ms() + 20000;                        \
		bool so_;                                                          \
		while (!(so_ = (condition)) && crn_now_ms() < end_)                \
			turn(t);                                                   \
		CT_OR_RETURN(ct_truth(__FILE__, __LINE__, #condition, so_, true)); \
	} while (0)

static void begin(struct scene *t, const char *routing)
{
	ends_config(ROUTER, routing);
	ends_open(&t->ends);
	ends_listen(&t->ends);
	router_open(&far, 77);
}

static void finish(struct scene *t)
{
	if (t->caller.peer)
		rte_peer_close(t->caller.peer, 0);
	if (t->second.peer)
		rte_peer_close(t->second.peer, 0);
	router_close(&far);
	fi_freeinfo(t->request);
	ends_close(&t->ends);
}

CT_FIXTURE(listen, struct scene, NULL, finish);

static void call(struct scene *t, struct caller *caller)
{
	union crn_addr addr;

	memset(caller, 0, sizeof(*caller));
	rte_addr_lower(&t->ends.target, &addr);
	CT_ASSERT_EQ(rte_peer_connect(far.port, &addr.sa, 0, &caller_ops, caller,
				      &caller->peer),
		     0);
	UNTIL(t, caller->ups);
}

static void ask(struct caller *caller, const struct rte_end *target, uint8_t type)
{
	struct rte_conn_req req = {
		.source = {.as = 9, .subnet = 8, .host = 7, .port = 6},
		.target = *target,
		.ttl = 3,
		.frag = RTE_FRAG_MIN,
		.eager = 100,
		.timeout = 1000,
	};
	struct rte_conn_ack ack = {.status = 0};
	struct rte_packet packet = {.head = {.type = type}};
	struct rte_tx *tx = rte_tx_get(caller->peer, RTE_LANES, RTE_HEAD_ROOM);
	ssize_t len;

	CT_ASSERT_NE(tx, NULL);
	len = type == RTE_CONN_REQ
		      ? rte_conn_req_pack(&packet, &req, tx->bytes, tx->room)
		      : rte_conn_ack_pack(&packet, &ack, tx->bytes, tx->room);
	CT_ASSERT_GT(len, 0);
	tx->len = (size_t)len;
	rte_tx_post(tx);
}

/* The program has the request. */
static bool requested(struct scene *t)
{
	if (!ends_expect(&t->ends, FI_CONNREQ, &t->ends.pep->fid, &t->event))
		return false;
	t->request = t->event.cm.info;
	return true;
}

CT_TEST_F(listen, a_routers_request_is_from_whom_it_says)
{
	struct rte_end end = {0};

	begin(t, "");
	call(t, &t->caller);
	ask(&t->caller, &t->ends.target, RTE_CONN_REQ);
	CT_ASSERT_TRUE(requested(t));
	CT_EXPECT_TRUE(rte_addr_parse(t->request->dest_addr, &end));
	CT_EXPECT_EQ(end.as, 9u);
	CT_EXPECT_EQ(end.subnet, 8u);
	CT_EXPECT_EQ(end.host, 7u);
}

/* Whatever it says of itself: 9:8, and host 7. */
CT_TEST_F(listen, a_clients_request_is_from_where_it_comes_from)
{
	struct rte_end from = {0};

	begin(t, "");
	far.port->attr.self.role = RTE_CLIENT;
	call(t, &t->caller);
	ask(&t->caller, &t->ends.target, RTE_CONN_REQ);
	CT_ASSERT_TRUE(requested(t));
	CT_ASSERT_TRUE(rte_addr_parse(t->request->dest_addr, &from));
	CT_EXPECT_EQ(from.as, 3u);
	CT_EXPECT_EQ(from.subnet, 1u);
	CT_EXPECT_EQ(from.host, 0x7f000001u);
}

CT_TEST_F(listen, a_request_for_another_subnet_is_not_the_programs)
{
	struct rte_end other;

	begin(t, "");
	call(t, &t->caller);
	other = t->ends.target;
	other.subnet++;
	ask(&t->caller, &other, RTE_CONN_REQ);
	UNTIL(t, t->caller.reps);
	CT_EXPECT_EQ(t->caller.rep.verdict, RTE_FAILED);
	CT_EXPECT_EQ(t->caller.rep.status, (uint32_t)FI_ENETUNREACH);
	ends_quiet(&t->ends);
}

CT_TEST_F(listen, who_says_something_else_first_is_left)
{
	begin(t, "");
	call(t, &t->caller);
	ask(&t->caller, &t->ends.target, RTE_CONN_ACK);
	UNTIL(t, t->caller.downs);
	ends_quiet(&t->ends);
}

CT_TEST_F(listen, who_says_nothing_is_left_after_a_while)
{
	begin(t, "connect_timeout = 300ms\n");
	call(t, &t->caller);
	UNTIL(t, t->caller.downs);
	ends_quiet(&t->ends);
}

CT_TEST_F(listen, a_second_request_on_a_connection_breaks_the_protocol)
{
	begin(t, "");
	call(t, &t->caller);
	ask(&t->caller, &t->ends.target, RTE_CONN_REQ);
	ask(&t->caller, &t->ends.target, RTE_CONN_REQ);
	UNTIL(t, t->caller.downs);
	CT_NOTE("the program finds out when it answers");
	CT_ASSERT_TRUE(requested(t));
	CT_EXPECT_EQ(fi_reject(t->ends.pep, t->request->handle, NULL, 0), 0);
}

CT_TEST_F(listen, beyond_the_backlog_a_request_is_told_so)
{
	int backlog = 1;

	begin(t, "");
	CT_ASSERT_EQ(fi_control(&t->ends.pep->fid, FI_BACKLOG, &backlog), 0);
	call(t, &t->caller);
	ask(&t->caller, &t->ends.target, RTE_CONN_REQ);
	call(t, &t->second);
	ask(&t->second, &t->ends.target, RTE_CONN_REQ);
	UNTIL(t, t->second.reps);
	CT_EXPECT_EQ(t->second.rep.verdict, RTE_FAILED);
	CT_EXPECT_EQ(t->second.rep.status, (uint32_t)FI_ENOBUFS);
	CT_ASSERT_TRUE(requested(t));
	CT_EXPECT_EQ(fi_reject(t->ends.pep, t->request->handle, NULL, 0), 0);
	UNTIL(t, t->caller.reps);
	CT_EXPECT_EQ(t->caller.rep.verdict, RTE_REJECTED);
}

/* To refuse one makes progress. */
CT_TEST_F(listen, one_leaves_while_another_is_refused)
{
	struct rte_pep *pep;
	int i;

	begin(t, "");
	call(t, &t->caller);
	call(t, &t->second);
	pep = crn_container_of(t->ends.pep, struct rte_pep, fid);
	CT_EXPECT_EQ(pep->waiting, 2u);
	rte_peer_close(t->second.peer, 0);
	t->second.peer = NULL;
	for (i = 0; i < 10; i++)
		router_turn(&far);
	crn_lock(&pep->device->lock);
	rte_incoming_unlisten(pep);
	crn_unlock(&pep->device->lock);
	CT_EXPECT_EQ(pep->waiting, 0u);
	CT_EXPECT_TRUE(crn_list_empty(&pep->device->incoming));
}

CT_TEST_F(listen, an_accepted_one_that_never_acknowledges_ends)
{
	struct fid_ep *ep;

	begin(t, "connect_timeout = 300ms\n");
	call(t, &t->caller);
	ask(&t->caller, &t->ends.target, RTE_CONN_REQ);
	CT_ASSERT_TRUE(requested(t));
	ep = ends_ep(&t->ends, t->request);
	CT_ASSERT_EQ(fi_accept(ep, NULL, 0), 0);
	UNTIL(t, t->caller.reps);
	CT_EXPECT_EQ(t->caller.rep.eager, 100u);
	CT_EXPECT_EQ(t->caller.rep.frag, RTE_FRAG_MIN);
	CT_EXPECT_TRUE(
		ends_expect_err(&t->ends, &ep->fid, FI_ETIMEDOUT, &t->event, NULL));
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
}

/* Nobody else's: of each process others, and below those that the system gives to
 * connections. */
#define PORTS 12u
static unsigned int first_port(void)
{
	return 20000 + (unsigned int)getpid() % 1000 * PORTS;
}

static void config_ports(unsigned int first, unsigned int last)
{
	char routing[64];

	snprintf(routing, sizeof(routing), "ports = %u-%u\n", first, last);
	ends_config(ROUTER, routing);
}

/* Another one of the program. */
static struct fid_pep *second_pep(struct scene *t)
{
	struct fid_pep *pep = NULL;

	CT_EXPECT_EQ(fi_passive_ep(t->ends.fabric, t->ends.info, &pep, NULL), 0);
	CT_EXPECT_EQ(fi_pep_bind(pep, &t->ends.eq->fid, 0), 0);
	return pep;
}

CT_TEST_F(listen, ports_are_those_of_the_configuration)
{
	const unsigned int first = first_port();
	struct fid_pep *second;

	config_ports(first, first + 8);
	ends_open(&t->ends);
	ends_listen(&t->ends);
	CT_EXPECT_GE(t->ends.target.port, first);
	CT_EXPECT_LE(t->ends.target.port, first + 8);
	CT_NOTE("a second one");
	second = second_pep(t);
	CT_EXPECT_EQ(fi_listen(second), 0);
	CT_EXPECT_EQ(fi_close(&second->fid), 0);
}

CT_TEST_F(listen, all_ports_that_are_taken_are_an_error)
{
	const unsigned int first = first_port() + 9;
	struct fid_pep *second;

	config_ports(first, first + 1);
	ends_open(&t->ends);
	ends_listen(&t->ends);
	second = second_pep(t);
	CT_EXPECT_EQ(fi_listen(second), 0);
	CT_EXPECT_EQ(fi_close(&second->fid), 0);
	CT_NOTE("one port alone");
	ends_close(&t->ends);
	config_ports(first + 2, first + 2);
	ends_open(&t->ends);
	ends_listen(&t->ends);
	second = second_pep(t);
	CT_EXPECT_EQ(fi_listen(second), -FI_EADDRINUSE);
	CT_NOTE("free again");
	CT_EXPECT_EQ(fi_close(&t->ends.pep->fid), 0);
	CT_EXPECT_EQ(fi_listen(second), 0);
	CT_EXPECT_EQ(fi_close(&second->fid), 0);
	t->ends.pep = NULL;
}
