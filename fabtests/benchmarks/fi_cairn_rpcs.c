/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls and Replies of one connection, both ends in this process and one thread: over a
 * provider of the protocol FI_PROTO_CAIRN_RPC, and, for comparison, the same messages
 * over any other provider, which knows nothing of what is in them.
 *
 *	call	a Call and its Reply
 *	read	a Call with bytes in a Read chunk; without the protocol an RMA read of
 *them write	a Reply with bytes in a Write chunk; without the protocol an RMA write
 *
 * One line: "OPERATION provider=NAME credits=N ways=N size=N ns=X least=X per_s=X
 * MB_per_s=X". ns and least are the median and the fastest round's time of one operation,
 * while as many others as there are credits are outstanding; the rates are the median's,
 * of both ways together.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/fi_ext_cairn.h>
#include "ends.h"

#define PROGRAM "fi_cairn_rpcs"
#define MOST_CREDITS 256
#define MOST_SIZE (1 << 20)
#define MOST_ROUNDS 1001
#define BATCH 16
#define ALIGN 4096

/* A Call up to its arguments and a Reply up to its results (RFC 5531 section 9), and the
 * length of an opaque. */
#define CALL_HEAD 44
#define REPLY_HEAD 28
enum { CALL, REPLY };

/* A buffer, and what it is used for at the moment. */
struct slot {
	enum { FREE, RECEIVE, SEND_CALL, SEND_REPLY, RESULT, RMA } use;
	uint8_t *buf;
};

/* Slots are used in turn. There are more than credits: that a Call is over does not mean
 * that its buffers are free. */
struct end {
	struct end *peer;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct slot *receives;
	struct slot *calls;
	struct slot *chunks; /* bytes of the Call with the same number */
	uint32_t xid;
	long left, outstanding;
};

static enum op { OP_CALL, OP_READ, OP_WRITE, OPS } op;
static const char *const names[OPS] = {"call", "read", "write"};
static struct ends_wish wish = {
	.program = PROGRAM,
	.provider = "pverbs;rpcrdma",
	.threading = FI_THREAD_DOMAIN,
	.protocol = FI_PROTO_CAIRN_RPC,
};
static long credits = 1, ways = 1, count, rounds = 31, slots;
static size_t size;
static struct ends ends;
static struct end end[2];
static struct fid_mr *mr;
static uint8_t *memory;
static void *desc;

static void need(ssize_t ret, const char *what)
{
	bench_ends_need(&ends, ret, what);
}

/* ---- messages ---- */

static void put_word(uint8_t *buf, int i, uint32_t value)
{
	value = htonl(value);
	memcpy(buf + 4 * i, &value, sizeof(value));
}

static uint32_t get_word(const uint8_t *buf, int i)
{
	uint32_t value;

	memcpy(&value, buf + 4 * i, sizeof(value));
	return ntohl(value);
}

static size_t receive_size(void)
{
	return op == OP_READ ? CALL_HEAD + size : size;
}

static void post_receive(struct end *e, struct slot *slot)
{
	slot->use = RECEIVE;
	need(fi_recv(e->ep, slot->buf, receive_size(), desc, 0, slot), "fi_recv");
}

/* A message, and bytes for a chunk if there are any. */
static ssize_t post(struct end *e, struct slot *slot, size_t len, void *bytes)
{
	const struct iovec iov[] = {{.iov_base = slot->buf, .iov_len = len},
				    {.iov_base = bytes, .iov_len = size}};
	void *descs[] = {desc, desc};
	const struct fi_msg msg = {.msg_iov = iov,
				   .desc = descs,
				   .iov_count = 2,
				   .context = slot,
				   .data = 1 << 1};

	if (!bytes)
		return fi_send(e->ep, slot->buf, len, desc, 0, slot);
	return fi_sendmsg(e->ep, &msg, FI_COMPLETION | FI_CAIRN_RPC_DDP);
}

static void post_result(struct end *e, struct slot *slot)
{
	const struct iovec iov = {.iov_base = slot->buf, .iov_len = size};
	const struct fi_msg msg = {.msg_iov = &iov,
				   .desc = &desc,
				   .iov_count = 1,
				   .context = slot,
				   .data = e->xid};

	/* A Call that the provider had no room for has its memory already. */
	if (slot->use == RESULT)
		return;
	slot->use = RESULT;
	need(fi_recvmsg(e->ep, &msg, FI_COMPLETION | FI_CAIRN_RPC_RESULT), "fi_recvmsg");
}

static uint64_t remote(const uint8_t *at)
{
	if (ends.info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		return (uintptr_t)at;
	return (uint64_t)(at - memory);
}

/* What a chunk comes down to: the peer moves the bytes. */
static ssize_t rma(struct end *e, struct slot *call, const struct slot *chunk)
{
	struct fid_ep *ep = e->peer->ep;
	const uint64_t key = fi_mr_key(mr), to = remote(chunk->buf);

	if (op == OP_READ)
		return fi_read(ep, e->peer->receives[call - e->calls].buf, size, desc, 0,
			       to, key, call);
	return fi_write(ep, e->peer->chunks->buf, size, desc, 0, to, key, call);
}

static ssize_t start(struct end *e, struct slot *call, struct slot *chunk)
{
	if (op != OP_CALL && !wish.protocol)
		return rma(e, call, chunk);
	put_word(call->buf, 0, e->xid);
	if (op == OP_WRITE)
		post_result(e, chunk);
	return post(e, call, op == OP_CALL ? size : CALL_HEAD,
		    op == OP_READ ? chunk->buf : NULL);
}

/* False: the slot is in use, or the provider has no room or credit. */
static bool start_call(struct end *e)
{
	const long i = e->xid % slots;
	struct slot *call = &e->calls[i];
	ssize_t ret;

	if (call->use != FREE)
		return false;
	ret = start(e, call, &e->chunks[i]);
	if (ret == -FI_EAGAIN)
		return false;
	need(ret, names[op]);
	call->use = op != OP_CALL && !wish.protocol ? RMA : SEND_CALL;
	e->xid++;
	e->left--;
	e->outstanding++;
	return true;
}

static void answer(struct end *e, struct slot *slot)
{
	put_word(slot->buf, 1, REPLY);
	put_word(slot->buf, 2, 0);
	slot->use = SEND_REPLY;
	need(post(e, slot, op == OP_CALL ? size : REPLY_HEAD,
		  op == OP_WRITE ? e->chunks->buf : NULL),
	     "Reply");
}

static void completed(struct end *e, struct slot *slot)
{
	switch (slot->use) {
	case RECEIVE:
		if (get_word(slot->buf, 1) == CALL) {
			answer(e, slot);
			return;
		}
		e->outstanding--;
		post_receive(e, slot);
		break;
	case SEND_REPLY:
		post_receive(e, slot);
		break;
	case RMA:
		e->peer->outstanding--;
		slot->use = FREE;
		break;
	default:
		slot->use = FREE;
	}
}

static void turn(struct end *e)
{
	struct fi_cq_entry entries[BATCH];
	ssize_t i, got;

	while (e->left && e->outstanding < credits && start_call(e))
		;
	got = fi_cq_read(e->cq, entries, BATCH);
	if (got == -FI_EAGAIN)
		return;
	need(got, "fi_cq_read");
	for (i = 0; i < got; i++)
		completed(e, entries[i].op_context);
}

/* ns of one operation, the ways together. */
static double round_once(void)
{
	const double begin = bench_ends_now_ns();

	end[0].left = count;
	end[1].left = ways == 2 ? count : 0;
	while (end[0].left || end[0].outstanding || end[1].left || end[1].outstanding) {
		turn(&end[0]);
		turn(&end[1]);
	}
	return (bench_ends_now_ns() - begin) / (double)(ways * count);
}

/* ---- objects ---- */

static uint8_t *make_slots(struct slot **made, uint8_t *at, size_t room)
{
	long i;

	*made = calloc((size_t)slots, sizeof(**made));
	need(*made ? 0 : -FI_ENOMEM, "memory");
	for (i = 0; i < slots; i++, at += room)
		(*made)[i].buf = at;
	return at;
}

static size_t aligned(size_t len)
{
	return (len + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

/* RFC 5531 section 9: what of a Call is not all zero, besides its XID. */
static void fill_calls(struct end *e)
{
	long i;

	for (i = 0; i < slots; i++) {
		put_word(e->calls[i].buf, 2, 2);
		put_word(e->calls[i].buf, CALL_HEAD / 4 - 1, (uint32_t)size);
	}
}

static void open_memory(void)
{
	const size_t chunk = op == OP_CALL ? 0 : aligned(size);
	const size_t message = op == OP_CALL ? size : CALL_HEAD;
	const size_t small = (message + 63) & ~(size_t)63;
	const size_t receive = op == OP_READ ? aligned(receive_size()) : small;
	const size_t len = aligned(2 * (size_t)slots * (chunk + small + receive));
	uint8_t *at;
	int i;

	memory = aligned_alloc(ALIGN, len);
	need(memory ? 0 : -FI_ENOMEM, "memory");
	memset(memory, 0, len);
	need(fi_mr_reg(ends.domain, memory, len,
		       FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
			       FI_REMOTE_WRITE,
		       0, 1, 0, &mr, NULL),
	     "fi_mr_reg");
	desc = fi_mr_desc(mr);
	at = memory;
	for (i = 0; i < 2; i++) {
		at = make_slots(&end[i].chunks, at, chunk);
		at = make_slots(&end[i].receives, at, receive);
		at = make_slots(&end[i].calls, at, small);
		fill_calls(&end[i]);
	}
}

static void open_all(void)
{
	struct fid_cq *cqs[2];
	struct fid_ep *eps[2];
	char most[16];
	long n;
	int i;

	snprintf(most, sizeof(most), "%ld", credits);
	setenv("FI_RPCRDMA_CREDITS", most, 0);
	slots = 4 * credits;
	wish.depth = (size_t)slots;
	bench_ends_open(&ends, &wish);
	open_memory();
	cqs[0] = bench_ends_cq(&ends, 4 * wish.depth);
	cqs[1] = bench_ends_cq(&ends, 4 * wish.depth);
	bench_ends_pair(&ends, cqs, 0, eps);
	for (i = 0; i < 2; i++) {
		end[i].peer = &end[1 - i];
		end[i].ep = eps[i];
		end[i].cq = cqs[i];
		for (n = 0; n < slots; n++)
			post_receive(&end[i], &end[i].receives[n]);
	}
}

static void close_all(void)
{
	int i;

	for (i = 0; i < 2; i++)
		need(fi_close(&end[i].ep->fid), "fi_close");
	for (i = 0; i < 2; i++) {
		need(fi_close(&end[i].cq->fid), "fi_close");
		free(end[i].chunks);
		free(end[i].receives);
		free(end[i].calls);
	}
	need(fi_close(&mr->fid), "fi_close");
	bench_ends_close(&ends);
	free(memory);
}

static int ascending(const void *a, const void *b)
{
	return (*(const double *)a > *(const double *)b) -
	       (*(const double *)a < *(const double *)b);
}

static void measure(void)
{
	static double times[MOST_ROUNDS];
	double ns;
	long i;

	for (i = 0; i < rounds; i++)
		times[i] = round_once();
	qsort(times, (size_t)rounds, sizeof(times[0]), ascending);
	ns = times[rounds / 2];
	printf("%s provider=%s credits=%ld ways=%ld size=%zu ns=%.1f least=%.1f "
	       "per_s=%.0f MB_per_s=%.1f\n",
	       names[op], wish.provider, credits, ways, size, ns, times[0], 1e9 / ns,
	       (double)size * 1e3 / ns);
}

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_rpcs [OPTION...] ADDRESS\n"
	      "Calls and their Replies, both ends in this process. ADDRESS is one of "
	      "this\n"
	      "machine's that the provider can use.\n"
	      "  -p PROVIDER   default: pverbs;rpcrdma\n"
	      "  -b            bare: PROVIDER does not know the protocol\n"
	      "  -o OPERATION  call (default), read (a Call with a Read chunk; bare: "
	      "RMA),\n"
	      "                write (a Reply with a Write chunk; bare: RMA)\n"
	      "  -c CREDITS    Calls outstanding each way (default 1), also of rpcrdma\n"
	      "                unless FI_RPCRDMA_CREDITS is set\n"
	      "  -w WAYS       2: both ends call (default 1)\n"
	      "  -z BYTES      of a message or chunk (default: 64 or 1 MiB)\n"
	      "  -n COUNT      operations of a round, each way (default: 20000 or 200)\n"
	      "  -r ROUNDS     of which the median is taken (default 31)\n",
	      to);
}

static enum op operation(const char *name)
{
	int i;

	for (i = 0; i < OPS; i++)
		if (!strcmp(names[i], name))
			return (enum op)i;
	fprintf(stderr, "fi_cairn_rpcs: there is no operation %s\n", name);
	exit(2);
}

static void options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "p:bo:c:w:z:n:r:h")) != -1) {
		switch (option) {
		case 'p':
			wish.provider = optarg;
			break;
		case 'b':
			wish.protocol = FI_PROTO_UNSPEC;
			break;
		case 'o':
			op = operation(optarg);
			break;
		case 'c':
			credits = bench_ends_number(PROGRAM, optarg, MOST_CREDITS);
			break;
		case 'w':
			ways = bench_ends_number(PROGRAM, optarg, 2);
			break;
		case 'z':
			size = (size_t)bench_ends_number(PROGRAM, optarg, MOST_SIZE);
			break;
		case 'n':
			count = bench_ends_number(PROGRAM, optarg, 1000000000);
			break;
		case 'r':
			rounds = bench_ends_number(PROGRAM, optarg, MOST_ROUNDS);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			exit(option == 'h' ? 0 : 2);
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		exit(2);
	}
	wish.address = argv[optind];
}

int main(int argc, char **argv)
{
	options(argc, argv);
	if (!size)
		size = op == OP_CALL ? 64 : MOST_SIZE;
	if (!count)
		count = op == OP_CALL ? 20000 : 200;
	if (op == OP_CALL && size < CALL_HEAD) {
		fprintf(stderr, PROGRAM ": a Call has at least %d bytes\n", CALL_HEAD);
		return 2;
	}
	open_all();
	measure();
	close_all();
	return 0;
}
