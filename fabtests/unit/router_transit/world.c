/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>

#include "route/route.h"
#include "world.h"

struct world world;

static uint8_t bytes[3u << 20];
static const uint8_t id[RTE_CONN_ID_LEN] = "an id of 16 byt";

/* In the place of route/. */
void frt_route(struct frt_node *node, const struct frt_question *question,
	       struct frt_answer *answer)
{
	(void)node;
	CT_EXPECT_TRUE(question->in == &world.device[0]);
	CT_EXPECT_TRUE(question->from == world.in);
	*answer = world.answer;
}

/* In the place of route/own.c. */
void frt_route_own(struct frt_node *node, const struct rte_conn_req *req,
		   struct frt_answer *answer)
{
	(void)node;
	world.own_ttl = req->ttl;
	*answer = world.answer;
}

static void begin_node(void)
{
	struct frt_node *node = &world.node;
	size_t i;

	world.config.router.id = WORLD_ID;
	world.config.router.connections = 10;
	world.config.router.slots = 256;
	world.config.router.resolves = 4096;
	world.file.config = &world.config;
	node->file = &world.file;
	node->transit = &frt_transit_ops;
	crn_list_init(&node->clients);
	crn_deadlines_init(&node->deadlines);
	CT_ASSERT_EQ(frt_workers_open(node, 1), 0);
	node->id = WORLD_ID;
	for (i = 0; i < 2; i++) {
		world.config_device[i].frag = 65536;
		world.device[i].config = &world.config_device[i];
		world.device[i].at[0] = (struct frt_port){.device = &world.device[i],
							  .worker = node->worker[0],
							  .port = &world.port[i]};
		world.device[i].rate = 40000000000u;
		world.device[i].up = true;
		fake_port(&world.port[i]);
		node->device[node->devices++] = &world.device[i];
	}
	frt_transit_ops.open(node);
}

void world_begin(void)
{
	size_t i;

	world_end();
	memset(&world, 0, sizeof(world));
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i ^ i >> 8 ^ i >> 16);
	fake_begin();
	world.begun = true;
	begin_node();
	ct_time_stop();
	world.answer = (struct frt_answer){
		.what = FRT_DELIVER,
		.device = &world.device[1],
		.address.in = {.sin_family = AF_INET, .sin_port = htons(7)},
		.source = {.as = 1, .subnet = 2, .host = 0x0a000001, .port = 9},
		.hops = 1,
		.path = {{.router = WORLD_ID, .subnet = 5}},
		.rate = 10000000000u,
		.latency = 2000,
	};
	world.req = (struct rte_conn_req){
		.source = {.as = 666, .host = 666},
		.target = {.as = 1, .subnet = 5, .host = 0x0a000105, .port = 7},
		.ttl = 9,
		.frag = 1u << 20,
		.eager = RTE_EAGER_MAX,
		.timeout = 1000,
		.features = UINT64_MAX & ~(uint64_t)RTE_FEATURE_PROBE,
	};
	memcpy(world.req.id, id, sizeof(id));
}

void world_done(struct rte_peer *peer)
{
	if (peer)
		fake_done(peer, peer->in->posted, 0);
}

void world_credit(uint32_t credit)
{
	fake_credit(world.in, RTE_REQUESTS, credit);
	fake_credit(world.in, RTE_RESPONSES, credit);
	fake_credit(world.out, RTE_REQUESTS, credit);
	fake_credit(world.out, RTE_RESPONSES, credit);
}

void world_end(void)
{
	size_t i;

	if (!world.begun)
		return;
	world.begun = false;
	world_expect_closed();
	for (i = 0; i < 2; i++)
		rte_port_progress(&world.port[i]);
	CT_EXPECT_EQ(frt_transit_count(&world.node), 0);
	CT_EXPECT_EQ(world.node.load, 0);
	CT_EXPECT_TRUE(crn_list_empty(&world.node.clients));
	CT_EXPECT_TRUE(world.node.deadlines.first == NULL);
	frt_transit_ops.close(&world.node);
	frt_workers_close(&world.node);
	crn_deadlines_fini(&world.node.deadlines);
	CT_EXPECT_STREQ(fake_end(), NULL);
}

/* --- Setting up --- */

static void first_message(struct rte_peer *peer, struct rte_rx *rx)
{
	struct frt_client *client = NULL;

	if (peer->remote.role == RTE_CLIENT)
		client = frt_client_get(&world.node, &world.device[0], &peer->address);
	frt_transit_ops.request(&world.device[0].at[0], peer, client, rx);
}

static const struct rte_peer_ops first_ops = {.message = first_message};

void world_ask(enum rte_role role)
{
	struct rte_packet packet = {.head = {.type = RTE_CONN_REQ, .plen = 5},
				    .payload = (const uint8_t *)"hello",
				    .options = world.options};
	uint8_t buf[RTE_SEND_ROOM];
	ssize_t len = rte_conn_req_pack(&packet, &world.req, buf, sizeof(buf));

	CT_ASSERT_GT(len, 0);
	world.in = fake_peer(&world.port[0], role, 1);
	world.in->ops = &first_ops;
	fake_say(world.in, buf, (size_t)len, NULL);
	world.out = fakes.last;
}

void world_reach(enum rte_role in)
{
	world_ask(in);
	CT_ASSERT_NE(world.out, NULL);
	if (world.answer.what == FRT_FORWARD)
		fake_up(world.out, RTE_ROUTER, world.answer.router);
	else
		fake_up(world.out, RTE_TARGET, 3);
}

void world_rep(enum rte_verdict verdict, int status)
{
	struct rte_packet packet = {.head = {.type = RTE_CONN_REP, .plen = 3},
				    .payload = (const uint8_t *)"yes"};
	struct rte_conn_rep rep = {.verdict = (uint8_t)verdict,
				   .status = (uint32_t)status,
				   .features = UINT64_MAX,
				   .frag = 1u << 20,
				   .eager = RTE_EAGER_MAX};
	uint8_t buf[RTE_SEND_ROOM];
	ssize_t len;

	memcpy(rep.id, world.req.id, sizeof(id));
	if (status)
		packet.head.flags = RTE_ERR;
	if (verdict == RTE_REDIRECT) {
		packet.options.present = 1u << RTE_TLV_URI;
		packet.options.text[RTE_TLV_URI] = "tcp://r9:9";
	}
	len = rte_conn_rep_pack(&packet, &rep, buf, sizeof(buf));
	CT_ASSERT_GT(len, 0);
	fake_say(world.out, buf, (size_t)len, NULL);
}

void world_ack(int status)
{
	struct rte_packet packet = {.head = {.type = RTE_CONN_ACK}};
	struct rte_conn_ack ack = {.status = (uint32_t)status};
	uint8_t buf[RTE_SEND_ROOM];
	ssize_t len;

	memcpy(ack.id, world.req.id, sizeof(id));
	if (status)
		packet.head.flags = RTE_ERR;
	len = rte_conn_ack_pack(&packet, &ack, buf, sizeof(buf));
	CT_ASSERT_GT(len, 0);
	fake_say(world.in, buf, (size_t)len, NULL);
}

void world_pass(unsigned int ms)
{
	ct_time_pass(ms);
	crn_deadlines_run(&world.node.deadlines);
}

static void shutdown_with(struct rte_peer *peer, int status, uint8_t flags)
{
	const struct rte_packet packet = {.head = {.type = RTE_SHUTDOWN, .flags = flags}};
	struct rte_shutdown shutdown = {.status = (uint32_t)status};
	uint8_t buf[RTE_SEND_ROOM];
	ssize_t len;

	memcpy(shutdown.id, world.req.id, sizeof(id));
	len = rte_shutdown_pack(&packet, &shutdown, buf, sizeof(buf));
	CT_ASSERT_GT(len, 0);
	fake_say(peer, buf, (size_t)len, NULL);
}

void world_shutdown(struct rte_peer *peer, int status)
{
	shutdown_with(peer, status, status ? RTE_ERR : 0);
}

void world_shutdown_late(struct rte_peer *peer)
{
	shutdown_with(peer, 0, RTE_LAST);
}

void world_open(enum rte_role in, enum rte_role out)
{
	if (out == RTE_ROUTER) {
		world.answer.what = FRT_FORWARD;
		world.answer.router = WORLD_NEXT;
	}
	world_ask(in);
	CT_ASSERT_NE(world.out, NULL);
	world.in->eager_max = world.out->eager_max = WORLD_EAGER;
	fake_up(world.out, out, out == RTE_ROUTER ? WORLD_NEXT : 3);
	world_rep(RTE_ACCEPTED, 0);
	world_ack(0);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_REQ) != NULL);
	CT_EXPECT_TRUE(world_next(world.in, RTE_CONN_REP) != NULL);
	CT_EXPECT_TRUE(world_next(world.out, RTE_CONN_ACK) != NULL);
	fake_done(world.out, 2, 0);
	fake_done(world.in, 1, 0);
}

void world_shut(void)
{
	world_shutdown(world.in, 0);
	world_done(world.in);
	world_done(world.out);
	/* What the test has left queued goes nowhere. */
	world_pass(FRT_DRAIN_MS);
	world_expect_closed();
}

/* --- Fixtures --- */

void world_start(enum rte_role in, enum rte_role out)
{
	world_begin();
	world_open(in, out);
}

void world_set_up(struct world **t)
{
	*t = &world;
	world_begin();
}

void world_set_up_routers(struct world **t)
{
	*t = &world;
	world_start(RTE_ROUTER, RTE_ROUTER);
}

void world_tear_down(struct world **t)
{
	world_end();
}

void world_tear_down_open(struct world **t)
{
	if (world.begun && frt_transit_count(&world.node))
		world_shut();
	world_end();
}

/* --- Data --- */

const uint8_t *world_bytes(size_t from)
{
	return bytes + from;
}

static ssize_t piece_pack(const struct piece *piece, uint8_t *buf, size_t size)
{
	const uint32_t slot = piece->slot ? 3 : RTE_SLOT_NONE;
	const uint64_t length = piece->length ? piece->length : piece->len;
	const uint32_t crc = piece->flags & RTE_CRC ? 0x12345678 : 0;
	struct rte_packet packet = {
		.head = {.type = piece->type ? piece->type : RTE_MSG,
			 .flags = piece->flags,
			 .seq = piece->seq,
			 .plen = piece->len},
	};
	union frt_body body = {.msg = {.slot = slot,
				       .crc = crc,
				       .length = length,
				       .offset = piece->offset}};

	if (piece->type == RTE_WRITE) {
		body.write.addr = piece->addr;
		body.write.key = piece->key;
	}
	if (piece->type == RTE_READ_REQ)
		body.read_req =
			(struct rte_read_req){.length = 99, .window = 1, .frag = 4096};
	if (piece->type == RTE_NACK)
		body.nack = (struct rte_nack){.request = piece->seq, .status = FI_EIO};
	if (piece->ack) {
		packet.options.present = 1u << RTE_TLV_ACK;
		packet.options.ack = piece->ack;
	}
	return frt_body_pack(&body, &packet, buf, size);
}

void world_say(struct rte_peer *peer, const struct piece *piece)
{
	static uint8_t buf[RTE_HLEN_MAX + RTE_EAGER_MAX];
	ssize_t len = piece_pack(piece, buf, sizeof(buf));
	const uint8_t *payload = world_bytes(piece->offset);

	CT_ASSERT_GT(len, 0);
	if (!piece->slot && piece->len)
		memcpy(buf + len, payload, piece->len);
	fake_say(peer, buf, (size_t)len + (piece->slot ? 0 : piece->len),
		 piece->slot ? payload : NULL);
}

void world_say_ack(struct rte_peer *peer, uint64_t request)
{
	struct rte_packet packet = {.head = {.type = RTE_ACK}};
	struct rte_ack ack = {.request = request};
	uint8_t buf[64];
	ssize_t len = rte_ack_pack(&packet, &ack, buf, sizeof(buf));

	fake_say(peer, buf, (size_t)len, NULL);
}

struct fake_message *world_next(struct rte_peer *peer, uint8_t type)
{
	struct fake_message *message = fake_next(peer);

	if (!message || message->packet.head.type != type) {
		CT_EXPECT_STREQ(message ? rte_message_name(message->packet.head.type)
					: "nothing",
				rte_message_name(type));
		return NULL;
	}
	return message;
}

const struct rte_conn_req *world_next_req(void)
{
	static struct rte_conn_req req;
	const struct fake_message *message = world_next(world.out, RTE_CONN_REQ);

	memset(&req, 0, sizeof(req));
	if (message)
		CT_EXPECT_EQ(rte_conn_req_parse(&req, &message->packet), RTE_OK);
	return &req;
}

const struct rte_conn_rep *world_next_rep(void)
{
	static struct rte_conn_rep rep;
	const struct fake_message *message = world_next(world.in, RTE_CONN_REP);

	memset(&rep, 0, sizeof(rep));
	if (message)
		CT_EXPECT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	return &rep;
}

void world_expect(struct rte_peer *peer, const struct piece *piece)
{
	const uint8_t type = piece->type ? piece->type : RTE_MSG;
	const struct fake_message *message = world_next(peer, type);
	const struct rte_packet *packet;
	union frt_body body;

	if (!message)
		return;
	packet = &message->packet;
	CT_ASSERT_EQ(frt_body_parse(&body, packet), RTE_OK);
	CT_EXPECT_EQ(packet->head.flags, piece->flags);
	CT_EXPECT_EQ(packet->head.seq, piece->seq);
	CT_EXPECT_EQ(packet->options.present, piece->ack ? 1u << RTE_TLV_ACK : 0);
	if (piece->ack)
		CT_EXPECT_EQ(packet->options.ack, piece->ack);
	if (!frt_has_payload(type))
		return;
	CT_EXPECT_EQ(packet->head.plen, piece->len);
	CT_EXPECT_EQ(body.msg.length, piece->length ? piece->length : piece->len);
	CT_EXPECT_EQ(body.msg.offset, piece->offset);
	CT_EXPECT_EQ(body.msg.crc, piece->flags & RTE_CRC ? 0x12345678 : 0);
	CT_EXPECT_EQ(message->slot, piece->slot);
	CT_EXPECT_MEMEQ(message->payload, world_bytes(piece->offset), piece->len);
}

void world_expect_placed(struct rte_peer *peer, const struct piece *piece, bool deliver)
{
	const struct fake_message *message = fake_next(peer);

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_TRUE(message->placed);
	CT_EXPECT_EQ(message->addr, piece->addr);
	CT_EXPECT_EQ(message->key, piece->key);
	CT_EXPECT_EQ(message->deliver, deliver);
	CT_ASSERT_EQ(message->len, piece->len);
	CT_EXPECT_MEMEQ(message->payload, world_bytes(piece->offset), piece->len);
}

void world_expect_ack(struct rte_peer *peer, uint64_t request)
{
	const struct fake_message *message = world_next(peer, RTE_ACK);
	struct rte_ack ack;

	if (!message)
		return;
	CT_ASSERT_EQ(rte_ack_parse(&ack, &message->packet), RTE_OK);
	CT_EXPECT_EQ(ack.request, request);
}

void world_expect_closed(void)
{
	world_done(world.in);
	world_done(world.out);
	if (world.in)
		CT_EXPECT_TRUE(world.in->in->closed);
	if (world.out)
		CT_EXPECT_TRUE(world.out->in->closed);
}

void world_expect_nothing(struct rte_peer *peer)
{
	const struct fake_message *message = fake_next(peer);

	if (message)
		CT_EXPECT_STREQ(rte_message_name(message->packet.head.type), "nothing");
}

void world_expect_failed(int status, uint64_t router, const char *why)
{
	const struct fake_message *message = world_next(world.in, RTE_CONN_REP);
	struct rte_conn_rep rep;

	if (!message)
		return;
	CT_ASSERT_EQ(rte_conn_rep_parse(&rep, &message->packet), RTE_OK);
	CT_EXPECT_EQ(rep.verdict, RTE_FAILED);
	CT_EXPECT_EQ(rep.status, status);
	CT_EXPECT_EQ(rep.router, router);
	CT_EXPECT_MEMEQ(rep.id, id, sizeof(id));
	if (!why)
		return;
	CT_ASSERT_TRUE(message->packet.options.present & 1u << RTE_TLV_WHY);
	CT_EXPECT_DATA(message->packet.options.text[RTE_TLV_WHY], why);
}

void world_expect_shutdown(struct rte_peer *peer, int status, uint64_t router)
{
	const struct fake_message *message = world_next(peer, RTE_SHUTDOWN);
	struct rte_shutdown shutdown;

	if (!message)
		return;
	CT_ASSERT_EQ(rte_shutdown_parse(&shutdown, &message->packet), RTE_OK);
	CT_EXPECT_EQ(shutdown.status, status);
	CT_EXPECT_EQ(shutdown.router, router);
	CT_EXPECT_MEMEQ(shutdown.id, id, sizeof(id));
}

void world_expect_shutdown_as(struct rte_peer *peer, bool late)
{
	const struct fake_message *message = world_next(peer, RTE_SHUTDOWN);

	CT_ASSERT_NE(message, NULL);
	CT_EXPECT_EQ(message->packet.head.flags, late ? RTE_LAST : 0);
}

void world_expect_given_up(int status)
{
	struct fake_message *message = world_next(world.out, RTE_CONN_ACK);
	struct rte_conn_ack ack;

	CT_ASSERT_NE(message, NULL);
	CT_ASSERT_EQ(rte_conn_ack_parse(&ack, &message->packet), RTE_OK);
	CT_EXPECT_EQ(ack.status, status);
	CT_EXPECT_MEMEQ(ack.id, world.req.id, sizeof(ack.id));
}

static const struct frt_transit *only;

static void keep(const struct frt_transit *transit, void *context)
{
	(void)context;
	only = transit;
}

const struct frt_lane *world_lane(enum frt_from from, enum rte_lane lane)
{
	only = NULL;
	frt_transit_each(&world.node, keep, NULL);
	return &only->side[from].lane[lane];
}
