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

static void turn(struct ends *ends)
{
	struct ends_event event;

	fi_eq_read(ends->eq, &event.event, event.room, sizeof(event.room), FI_PEEK);
	router_turn(&far);
}

#define UNTIL(ends, condition)                                                     \
	do {                                                                       \
		const uint64_t end_ = crn_now_ms() + 20000;                        \
		bool so_;                                                          \
		while (!(so_ = (condition)) && crn_now_ms() < end_)                \
			turn(ends);                                                \
		CT_OR_RETURN(ct_truth(__FILE__, __LINE__, #condition, so_, true)); \
	} while (0)

static void begin(struct ends *ends, const char *routing)
{
	ends_config(ROUTER, routing);
	ends_open(ends);
	ends_listen(ends);
	router_open(&far, 77);
}

static void finish(struct ends *ends, struct caller *caller)
{
	if (caller->peer)
		rte_peer_close(caller->peer, 0);
	router_close(&far);
	ends_close(ends);
}

static void call(struct ends *ends, struct caller *caller)
{
	union crn_addr addr;

	memset(caller, 0, sizeof(*caller));
	rte_addr_lower(&ends->target, &addr);
	CT_ASSERT_EQ(rte_peer_connect(far.port, &addr.sa, 0, &caller_ops, caller,
				      &caller->peer),
		     0);
	UNTIL(ends, caller->ups);
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

CT_TEST(listen, a_routers_request_is_from_whom_it_says)
{
	struct ends_event event;
	struct caller caller;
	struct ends ends;
	struct rte_end end = {0};

	begin(&ends, "");
	call(&ends, &caller);
	ask(&caller, &ends.target, RTE_CONN_REQ);
	CT_ASSERT_TRUE(ends_next(&ends, &event, NULL));
	CT_ASSERT_EQ(event.event, FI_CONNREQ);
	CT_EXPECT_TRUE(rte_addr_parse(event.cm.info->dest_addr, &end));
	CT_EXPECT_EQ(end.as, 9u);
	CT_EXPECT_EQ(end.subnet, 8u);
	CT_EXPECT_EQ(end.host, 7u);
	fi_freeinfo(event.cm.info);
	finish(&ends, &caller);
}

/* Whatever it says of itself: 9:8, and host 7. */
CT_TEST(listen, a_clients_request_is_from_where_it_comes_from)
{
	struct ends_event event;
	struct caller caller;
	struct rte_end from = {0};
	struct ends ends;

	begin(&ends, "");
	far.port->attr.self.role = RTE_CLIENT;
	call(&ends, &caller);
	ask(&caller, &ends.target, RTE_CONN_REQ);
	CT_ASSERT_TRUE(ends_next(&ends, &event, NULL));
	CT_ASSERT_EQ(event.event, FI_CONNREQ);
	CT_ASSERT_TRUE(rte_addr_parse(event.cm.info->dest_addr, &from));
	CT_EXPECT_EQ(from.as, 3u);
	CT_EXPECT_EQ(from.subnet, 1u);
	CT_EXPECT_EQ(from.host, 0x7f000001u);
	fi_freeinfo(event.cm.info);
	finish(&ends, &caller);
}

CT_TEST(listen, a_request_for_another_subnet_is_not_the_programs)
{
	struct caller caller;
	struct rte_end other;
	struct ends ends;

	begin(&ends, "");
	call(&ends, &caller);
	other = ends.target;
	other.subnet++;
	ask(&caller, &other, RTE_CONN_REQ);
	UNTIL(&ends, caller.reps);
	CT_EXPECT_EQ(caller.rep.verdict, RTE_FAILED);
	CT_EXPECT_EQ(caller.rep.status, (uint32_t)FI_ENETUNREACH);
	ends_quiet(&ends);
	finish(&ends, &caller);
}

CT_TEST(listen, who_says_something_else_first_is_left)
{
	struct caller caller;
	struct ends ends;

	begin(&ends, "");
	call(&ends, &caller);
	ask(&caller, &ends.target, RTE_CONN_ACK);
	UNTIL(&ends, caller.downs);
	ends_quiet(&ends);
	finish(&ends, &caller);
}

CT_TEST(listen, who_says_nothing_is_left_after_a_while)
{
	struct caller caller;
	struct ends ends;

	begin(&ends, "connect_timeout = 300ms\n");
	call(&ends, &caller);
	UNTIL(&ends, caller.downs);
	ends_quiet(&ends);
	finish(&ends, &caller);
}

CT_TEST(listen, a_second_request_on_a_connection_breaks_the_protocol)
{
	struct ends_event event;
	struct caller caller;
	struct ends ends;

	begin(&ends, "");
	call(&ends, &caller);
	ask(&caller, &ends.target, RTE_CONN_REQ);
	ask(&caller, &ends.target, RTE_CONN_REQ);
	UNTIL(&ends, caller.downs);
	CT_NOTE("the program finds out when it answers");
	CT_ASSERT_TRUE(ends_next(&ends, &event, NULL));
	CT_ASSERT_EQ(event.event, FI_CONNREQ);
	CT_EXPECT_EQ(fi_reject(ends.pep, event.cm.info->handle, NULL, 0), 0);
	fi_freeinfo(event.cm.info);
	finish(&ends, &caller);
}

CT_TEST(listen, beyond_the_backlog_a_request_is_told_so)
{
	struct caller first, second;
	struct ends_event event;
	struct ends ends;
	int backlog = 1;

	begin(&ends, "");
	CT_ASSERT_EQ(fi_control(&ends.pep->fid, FI_BACKLOG, &backlog), 0);
	call(&ends, &first);
	ask(&first, &ends.target, RTE_CONN_REQ);
	call(&ends, &second);
	ask(&second, &ends.target, RTE_CONN_REQ);
	UNTIL(&ends, second.reps);
	CT_EXPECT_EQ(second.rep.verdict, RTE_FAILED);
	CT_EXPECT_EQ(second.rep.status, (uint32_t)FI_ENOBUFS);
	CT_ASSERT_TRUE(ends_next(&ends, &event, NULL));
	CT_ASSERT_EQ(event.event, FI_CONNREQ);
	CT_EXPECT_EQ(fi_reject(ends.pep, event.cm.info->handle, NULL, 0), 0);
	fi_freeinfo(event.cm.info);
	UNTIL(&ends, first.reps);
	CT_EXPECT_EQ(first.rep.verdict, RTE_REJECTED);
	if (second.peer)
		rte_peer_close(second.peer, 0);
	finish(&ends, &first);
}

/* To refuse one makes progress. */
CT_TEST(listen, one_leaves_while_another_is_refused)
{
	struct caller first, second;
	struct rte_pep *pep;
	struct ends ends;
	int i;

	begin(&ends, "");
	call(&ends, &first);
	call(&ends, &second);
	pep = crn_container_of(ends.pep, struct rte_pep, fid);
	CT_EXPECT_EQ(pep->waiting, 2u);
	rte_peer_close(second.peer, 0);
	for (i = 0; i < 10; i++)
		router_turn(&far);
	crn_lock(&pep->device->lock);
	rte_incoming_unlisten(pep);
	crn_unlock(&pep->device->lock);
	CT_EXPECT_EQ(pep->waiting, 0u);
	CT_EXPECT_TRUE(crn_list_empty(&pep->device->incoming));
	finish(&ends, &first);
}

CT_TEST(listen, an_accepted_one_that_never_acknowledges_ends)
{
	struct ends_event event;
	struct caller caller;
	struct fi_info *info;
	struct fid_ep *ep;
	struct ends ends;

	begin(&ends, "connect_timeout = 300ms\n");
	call(&ends, &caller);
	ask(&caller, &ends.target, RTE_CONN_REQ);
	CT_ASSERT_TRUE(ends_next(&ends, &event, NULL));
	CT_ASSERT_EQ(event.event, FI_CONNREQ);
	info = event.cm.info;
	ep = ends_ep(&ends, info);
	CT_ASSERT_EQ(fi_accept(ep, NULL, 0), 0);
	UNTIL(&ends, caller.reps);
	CT_EXPECT_EQ(caller.rep.eager, 100u);
	CT_EXPECT_EQ(caller.rep.frag, RTE_FRAG_MIN);
	CT_EXPECT_TRUE(ends_expect_err(&ends, &ep->fid, FI_ETIMEDOUT, &event, NULL));
	CT_EXPECT_EQ(fi_close(&ep->fid), 0);
	fi_freeinfo(info);
	finish(&ends, &caller);
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

CT_TEST(listen, ports_are_those_of_the_configuration)
{
	const unsigned int first = first_port();
	struct fid_pep *second;
	struct ends ends;

	config_ports(first, first + 8);
	ends_open(&ends);
	ends_listen(&ends);
	CT_EXPECT_GE(ends.target.port, first);
	CT_EXPECT_LE(ends.target.port, first + 8);
	CT_NOTE("a second one");
	CT_ASSERT_EQ(fi_passive_ep(ends.fabric, ends.info, &second, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(second, &ends.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_listen(second), 0);
	CT_EXPECT_EQ(fi_close(&second->fid), 0);
	ends_close(&ends);
}

CT_TEST(listen, all_ports_that_are_taken_are_an_error)
{
	const unsigned int first = first_port() + 9;
	struct fid_pep *second;
	struct ends ends;

	config_ports(first, first + 1);
	ends_open(&ends);
	ends_listen(&ends);
	CT_ASSERT_EQ(fi_passive_ep(ends.fabric, ends.info, &second, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(second, &ends.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_listen(second), 0);
	CT_EXPECT_EQ(fi_close(&second->fid), 0);
	CT_NOTE("one port alone");
	ends_close(&ends);
	config_ports(first + 2, first + 2);
	ends_open(&ends);
	ends_listen(&ends);
	CT_ASSERT_EQ(fi_passive_ep(ends.fabric, ends.info, &second, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(second, &ends.eq->fid, 0), 0);
	CT_EXPECT_EQ(fi_listen(second), -FI_EADDRINUSE);
	CT_NOTE("free again");
	CT_EXPECT_EQ(fi_close(&ends.pep->fid), 0);
	CT_EXPECT_EQ(fi_listen(second), 0);
	CT_EXPECT_EQ(fi_close(&second->fid), 0);
	ends.pep = NULL;
	ends_close(&ends);
}
