/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The data path of a connection of route, between a program and a peer that does what it
 * likes: each input is what the two do, one after the other. Whatever that is, each
 * operation ends once, and each message of the peer is put back.
 */
#include <string.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include <cairn/cq.h>
#include "fuzz.h"
#include "xfer/xfer.h"

#define SIZE 4u	      /* operations, and receives */
#define TXS 16u	      /* messages at a time */
#define RXS 64u	      /* the same, of the peer */
#define MEMORY 4096u  /* bytes of the program's */
#define KEY 7u	      /* of the region */
#define PLEN_MAX 600u /* bytes of a payload */

struct rte_tx_inside {
	struct rte_tx tx;
	uint8_t bytes[RTE_SEND_ROOM];
	bool taken, posted;
};

struct rte_rx_inside {
	struct rte_rx rx;
	uint8_t *bytes, *payload; /* of exactly their size; payload: in a slot */
	bool taken;
};

static struct {
	struct rte_vc vc;
	struct rte_peer peer;
	struct rte_port port;
	struct fid_domain domain;
	struct fid_fabric fabric;
	struct crn_ep ep;
	struct crn_cq cq;
	struct crn_mr_map map;
	struct crn_mr mr;
	bool has_mr, bad;
	bool pmem;	       /* the region is persistent */
	struct crn_list loans; /* of mr */
	unsigned int credits[RTE_LANES], slots, holds;
	struct rte_tx_inside tx[TXS];
	struct rte_rx_inside rx[RXS];
	unsigned int begun, ended; /* operations with an entry */
	uint64_t seq;		   /* of the peer's requests */
	uint8_t region[256], memory[MEMORY];
} world;

/* --- The peer --- */

bool rte_tx_may(struct rte_peer *peer, enum rte_lane lane)
{
	return world.credits[lane];
}

struct rte_tx *rte_tx_get(struct rte_peer *peer, enum rte_lane lane, size_t room)
{
	struct rte_tx_inside *in = world.tx;

	FUZZ_CHECK(!world.bad && room <= RTE_SEND_ROOM);
	while (in < world.tx + TXS && in->taken)
		in++;
	if (!world.credits[lane] || in == world.tx + TXS)
		return NULL;
	world.credits[lane]--;
	memset(&in->tx, 0, sizeof(in->tx));
	in->tx.peer = peer;
	in->tx.lane = lane;
	in->tx.bytes = in->bytes;
	in->tx.room = room;
	in->tx.in = in;
	in->taken = true;
	in->posted = false;
	return &in->tx;
}

void rte_tx_drop(struct rte_tx *tx)
{
	FUZZ_CHECK(!tx->in->posted);
	world.credits[tx->lane]++;
	tx->in->taken = false;
}

bool rte_tx_slot(struct rte_tx *tx)
{
	if (!world.slots)
		return false;
	world.slots--;
	tx->slot_len = 300;
	return true;
}

/* A slot is filled in only here. */
static void check_message(const struct rte_tx *tx)
{
	uint8_t bytes[RTE_SEND_ROOM + MEMORY];
	struct rte_packet packet;
	size_t len = tx->len;

	memcpy(bytes, tx->bytes, len);
	if (tx->data_len && !tx->slot_len) {
		memcpy(bytes + len, tx->data, tx->data_len);
		len += tx->data_len;
	}
	FUZZ_CHECK(rte_packet_parse(&packet, bytes, len) == RTE_OK);
	FUZZ_CHECK(rte_message_lane(packet.head.type) == tx->lane);
	FUZZ_CHECK(packet.payload || packet.head.plen == tx->data_len);
}

void rte_tx_post(struct rte_tx *tx)
{
	FUZZ_CHECK(!tx->in->posted && tx->len <= tx->room);
	FUZZ_CHECK(tx->data_len <= (tx->slot_len ? tx->slot_len : RTE_EAGER));
	FUZZ_CHECK(!tx->data_len || tx->done);
	check_message(tx);
	tx->in->posted = true;
}

struct rte_tx *rte_tx_direct(struct rte_peer *peer)
{
	struct rte_tx *tx;

	world.credits[RTE_REQUESTS]++;
	tx = rte_tx_get(peer, RTE_REQUESTS, 0);
	if (!tx)
		world.credits[RTE_REQUESTS]--;
	return tx;
}

ssize_t rte_tx_rma(struct rte_tx *tx, struct fi_msg_rma *msg, bool reads, uint64_t flags)
{
	FUZZ_CHECK(!tx->in->posted && tx->done && msg->iov_count == 2);
	tx->in->posted = true;
	return 0;
}

bool rte_peer_idle(const struct rte_peer *peer)
{
	return world.credits[RTE_REQUESTS] & 1;
}

void rte_peer_lends(struct rte_peer *peer)
{
}

void rte_rx_put(struct rte_rx *rx)
{
	FUZZ_CHECK(rx->in->taken);
	rx->in->taken = false;
	free(rx->in->bytes);
	free(rx->in->payload);
}

/* Nothing is ever put off. */
bool rte_peer_later(struct rte_peer *peer)
{
	return false;
}

void rte_peer_expect(struct rte_peer *peer, enum rte_lane lane, uint64_t bytes)
{
	FUZZ_CHECK(lane == RTE_RESPONSES && bytes);
}

static void stop(int err)
{
	rte_vc_stop(&world.vc, err, 0);
	world.bad = true;
}

void rte_peer_bad(struct rte_peer *peer, const char *what)
{
	FUZZ_CHECK(what);
	stop(FI_EIO);
}

static void broken(struct rte_vc *vc, int err)
{
	FUZZ_CHECK(err > 0);
	stop(err);
}

static bool hold(struct rte_vc *vc, struct crn_mr *mr, void **desc)
{
	*desc = NULL;
	world.holds++;
	return true;
}

static void release(struct rte_vc *vc, struct crn_mr *mr)
{
	FUZZ_CHECK(mr == &world.mr && world.holds);
	world.holds--;
}

static bool persistent(struct rte_vc *vc, struct crn_mr *mr)
{
	return world.pmem;
}

static void persist(struct rte_vc *vc, struct crn_mr *mr, const void *at, size_t len)
{
	FUZZ_CHECK(world.pmem && mr == &world.mr && len);
	FUZZ_CHECK((const uint8_t *)at >= world.region &&
		   (const uint8_t *)at + len <= world.region + sizeof(world.region));
}

static int lend(struct rte_vc *vc, struct crn_mr *mr, struct rte_vc_loan *loan)
{
	FUZZ_CHECK(mr == &world.mr);
	crn_list_add_tail(&world.loans, &loan->of_mr);
	return 0;
}

/* The lower provider is done with one. */
static void send_one(unsigned int which)
{
	struct rte_tx_inside *in = &world.tx[which % TXS];
	struct rte_tx tx = in->tx;

	if (!in->taken)
		return;
	FUZZ_CHECK(in->posted);
	in->taken = false;
	if (tx.done)
		tx.done(&tx, which & 0x80 ? FI_EIO : 0);
}

/* As receive.c does: what does not parse is not passed on. */
static void arrive(const uint8_t *bytes, size_t len)
{
	struct rte_rx_inside *in = world.rx;
	struct rte_rx *rx = &in->rx;

	while (in < world.rx + RXS && in->taken)
		in++;
	if (in == world.rx + RXS)
		return;
	rx = &in->rx;
	in->bytes = malloc(len);
	in->payload = NULL;
	memcpy(in->bytes, bytes, len);
	if (rte_packet_parse(&rx->packet, in->bytes, len) != RTE_OK ||
	    rx->packet.head.plen > PLEN_MAX ||
	    rte_message_lane(rx->packet.head.type) == RTE_LANES) {
		free(in->bytes);
		return;
	}
	if (!rx->packet.payload)
		in->payload = calloc(1, rx->packet.head.plen);
	rx->payload = in->payload ? in->payload : (uint8_t *)rx->packet.payload;
	rx->peer = &world.peer;
	rx->in = in;
	rx->lane = rte_message_lane(rx->packet.head.type);
	in->taken = true;
	rte_vc_message(&world.vc, rx);
}

/* A message that is nearly right: numbers are small, or what comes next. */
static void arrive_near(struct crn_unpack *input)
{
	static const uint8_t types[] = {RTE_MSG,	RTE_WRITE,   RTE_READ_REQ,
					RTE_READ_FRAG,	RTE_ACK,     RTE_NACK,
					RTE_MR_RESOLVE, RTE_MR_INFO, RTE_MR_INVAL};
	const uint8_t type = types[crn_unpack_u8(input) % sizeof(types)];
	const uint8_t flags = crn_unpack_u8(input), near = crn_unpack_u8(input);
	const uint64_t offset = crn_unpack_u8(input) * 4u;
	const uint64_t length = crn_unpack_u8(input) * 4u;
	const uint64_t request = crn_unpack_u8(input);
	struct rte_packet packet = {
		.head = {.type = type,
			 .flags = flags & (RTE_FIRST | RTE_LAST | RTE_CQDATA),
			 .plen = crn_unpack_u8(input) * 4u}};
	struct rte_msg msg = {RTE_SLOT_NONE, 0, length, offset, 0};
	struct rte_write write = {RTE_SLOT_NONE, 0, length, offset, 0, near, KEY};
	struct rte_read_req req = {length, near, KEY, 1u + request, 1u + near};
	struct rte_read_frag frag = {RTE_SLOT_NONE, 0, length, offset, request};
	struct rte_ack ack = {request};
	struct rte_nack nack = {request, 0, FI_EIO, 0};
	struct rte_mr_resolve resolve = {KEY};
	struct rte_mr_info info = {.key = KEY,
				   .base = near,
				   .length = length,
				   .epoch = request,
				   .access = 3};
	struct rte_mr_inval inval = {KEY, request};
	uint8_t bytes[128 + 256 * 4] = {0};
	ssize_t len = -1;

	if (type == RTE_MSG || type == RTE_WRITE)
		packet.head.flags |= flags & (RTE_ACKREQ | RTE_DELIVER | RTE_COMMIT);
	if (flags & RTE_FIRST || type == RTE_READ_REQ)
		world.seq++;
	packet.head.seq = near == 0xff ? request : world.seq;
	switch (type) {
	case RTE_MSG:
		len = rte_msg_pack(&packet, &msg, bytes, 128);
		break;
	case RTE_WRITE:
		len = rte_write_pack(&packet, &write, bytes, 128);
		break;
	case RTE_READ_REQ:
		packet.head.flags = 0;
		packet.head.plen = 0;
		len = rte_read_req_pack(&packet, &req, bytes, 128);
		break;
	case RTE_READ_FRAG:
		packet.head.flags &= RTE_FIRST | RTE_LAST;
		len = rte_read_frag_pack(&packet, &frag, bytes, 128);
		break;
	case RTE_ACK:
		packet.head.flags = 0;
		packet.head.plen = 0;
		len = rte_ack_pack(&packet, &ack, bytes, 128);
		break;
	case RTE_MR_RESOLVE:
	case RTE_MR_INFO:
		packet.head.flags = 0;
		packet.head.plen = 0;
		len = type == RTE_MR_INFO
			      ? rte_mr_info_pack(&packet, &info, bytes, 128)
			      : rte_mr_resolve_pack(&packet, &resolve, bytes, 128);
		break;
	case RTE_MR_INVAL:
		packet.head.flags = flags & RTE_FIRST ? RTE_ACKREQ : 0;
		packet.head.plen = 0;
		len = rte_mr_inval_pack(&packet, &inval, bytes, 128);
		break;
	case RTE_NACK:
		packet.head.flags = RTE_ERR;
		packet.head.plen = 0;
		len = rte_nack_pack(&packet, &nack, bytes, 128);
		break;
	}
	if (len > 0)
		arrive(bytes, (size_t)len + packet.head.plen);
	else if (flags & RTE_FIRST || type == RTE_READ_REQ)
		world.seq--;
}

static void arrive_raw(struct crn_unpack *input)
{
	const size_t len = CRN_MIN(crn_unpack_le16(input), input->left);
	const uint8_t *bytes = crn_unpack_ref(input, len);

	if (bytes && len)
		arrive(bytes, len);
}

/* --- The program --- */

static const uint64_t levels[] = {0,
				  FI_DELIVERY_COMPLETE,
				  FI_INJECT_COMPLETE,
				  FI_FENCE,
				  FI_INJECT,
				  FI_COMPLETION,
				  FI_REMOTE_CQ_DATA,
				  FI_COMMIT_COMPLETE,
				  FI_COMMIT_COMPLETE | FI_FENCE};

static void call(struct crn_unpack *input)
{
	const uint8_t what = crn_unpack_u8(input), at = crn_unpack_u8(input);
	const uint8_t len = crn_unpack_u8(input);
	const uint64_t flags = levels[crn_unpack_u8(input) % CRN_COUNT(levels)];
	const struct iovec iov[] = {
		{world.memory + at, len},
		{world.memory + 512 + 4 * at, 4u * (len >> 4)},
	};
	const struct fi_rma_iov range = {at, iov[0].iov_len + iov[1].iov_len, KEY};
	const struct fi_msg msg = {.msg_iov = iov, .iov_count = 2, .context = &world};
	const struct fi_msg_rma rma = {.msg_iov = iov,
				       .iov_count = 2,
				       .rma_iov = &range,
				       .rma_iov_count = 1,
				       .context = &world};
	ssize_t ret = -FI_EAGAIN;

	switch (what % 6) {
	case 0:
		ret = rte_vc_send(&world.vc, &msg, flags);
		break;
	case 1:
		ret = rte_vc_write(&world.vc, &rma, flags);
		break;
	case 2:
		ret = rte_vc_read(&world.vc, &rma, flags & FI_FENCE);
		break;
	case 3:
		ret = rte_vc_recv(&world.vc, &msg, flags & FI_COMPLETION);
		break;
	case 4:
		rte_vc_inject(&world.vc, world.memory, len, 0, 0);
		break;
	case 5:
		rte_vc_inject_write(&world.vc, world.memory, len, at, KEY, 0, 0);
		break;
	}
	world.begun += !ret;
}

static void read_queue(void)
{
	struct fi_cq_err_entry err = {0};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	while ((ret = fi_cq_read(&world.cq.fid, &entry, 1)) != -FI_EAGAIN) {
		if (ret == -FI_EAVAIL)
			FUZZ_CHECK(fi_cq_readerr(&world.cq.fid, &err, 0) == 1);
		world.ended++;
	}
	FUZZ_CHECK(world.ended <= world.begun);
}

/* A region closes only once it has been given back. */
static void region_toggle(void)
{
	if (!crn_list_empty(&world.loans)) {
		rte_vc_recall(
			crn_container_of(world.loans.next, struct rte_vc_loan, of_mr));
		return;
	}
	if (world.has_mr)
		crn_mr_remove(&world.map, &world.mr);
	else
		crn_mr_add(&world.map, &world.mr, KEY);
	world.has_mr = !world.has_mr;
}

static void step(struct crn_unpack *input)
{
	const uint8_t what = crn_unpack_u8(input);

	switch (what % 8) {
	case 0:
	case 1:
		arrive_near(input);
		break;
	case 2:
		arrive_raw(input);
		break;
	case 3:
		call(input);
		break;
	case 4:
		send_one(crn_unpack_u8(input));
		break;
	case 5:
		world.credits[what >> 3 & 1] += what >> 4;
		world.slots += what >> 6;
		rte_vc_ready(&world.vc);
		break;
	case 6:
		read_queue();
		break;
	default:
		if (what >> 3 & 1)
			region_toggle();
		else if (what >> 4 & 1)
			rte_vc_unsent(&world.vc);
		else if (!rte_vc_cancel(&world.vc, &world))
			read_queue();
	}
}

/* --- From the beginning to the end --- */

static void begin(uint8_t how)
{
	const bool direct = how & 1;
	const struct rte_vc_path path = {.frag = 300,
					 .eager = 100,
					 .commit = !(how & 2),
					 .direct = direct,
					 .bypass = direct,
					 .bypassed = direct};
	const struct fi_cq_attr cq = {.size = 16, .format = FI_CQ_FORMAT_DATA};
	const struct rte_vc_attr attr = {.ep = &world.ep,
					 .map = &world.map,
					 .tx_size = SIZE,
					 .rx_size = SIZE,
					 .inject_size = 64,
					 .max_msg_size = 2000,
					 .broken = broken,
					 .hold = hold,
					 .release = release,
					 .persistent = persistent,
					 .persist = persist,
					 .lend = lend};

	memset(&world, 0, sizeof(world));
	world.ep.queues[CRN_EP_TX].cq = world.ep.queues[CRN_EP_RX].cq = &world.cq;
	world.pmem = how & 4;
	crn_list_init(&world.loans);
	world.peer.port = &world.port;
	world.port.lower_rma = 1000;
	world.port.lower_iov = 2;
	world.credits[RTE_REQUESTS] = world.credits[RTE_RESPONSES] = 2;
	world.mr.buf = world.region;
	world.mr.len = sizeof(world.region);
	world.mr.access = FI_REMOTE_READ | FI_REMOTE_WRITE;
	FUZZ_CHECK(!crn_cq_init(&world.cq, &world.domain, (struct fi_cq_attr *)&cq, false,
				NULL));
	FUZZ_CHECK(!crn_mr_map_init(&world.map, 0, 8, false));
	FUZZ_CHECK(!rte_vc_init(&world.vc, &attr));
	region_toggle();
	rte_vc_start(&world.vc, &world.peer, &path);
}

static void end(void)
{
	stop(FI_ECONNABORTED);
	for (unsigned int i = 0; i < TXS; i++)
		send_one(i);
	read_queue();
	FUZZ_CHECK(rte_vc_idle(&world.vc));
	FUZZ_CHECK(world.vc.head == world.vc.tail && !world.holds);
	/* Those without an entry for a success are not counted as ended. */
	FUZZ_CHECK(world.ended == world.begun);
	/* It takes what came and had no receive with it. */
	rte_vc_fini(&world.vc);
	for (unsigned int i = 0; i < RXS; i++)
		FUZZ_CHECK(!world.rx[i].taken);
	if (world.has_mr)
		region_toggle();
	FUZZ_CHECK(!crn_mr_map_fini(&world.map));
	FUZZ_CHECK(!crn_cq_fini(&world.cq));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct crn_unpack input;

	crn_unpack_init(&input, data, size);
	begin(crn_unpack_u8(&input));
	while (input.left && !input.failed)
		step(&input);
	end();
	return 0;
}
