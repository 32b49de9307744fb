/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages and tagged messages of many peers with one server. */
#include "rdm.h"

#define CAPS (FI_MSG | FI_TAGGED | FI_SEND | FI_RECV)

/* What a message is: its first bytes, as the pattern does not tell peers apart. */
struct stamp {
	uint32_t peer, n;
};

/* Of a tag: the lower bits say which of a peer's messages it is. */
#define TAG_PEER_SHIFT 8
#define TAG_ANY_OF_PEER 0xffull

static uint64_t tag_of(const struct rdm_peer *p, unsigned int n)
{
	return ((uint64_t)p->number << TAG_PEER_SHIFT) | n;
}

static uint8_t *piece(uint8_t *of, unsigned int n)
{
	return of + (size_t)n * RDM_LEN;
}

static void write_message(const struct rdm *r, struct rdm_peer *p, unsigned int n)
{
	const struct stamp stamp = {.peer = p->number, .n = n};

	fct_fill(piece(p->send, n), fct_rdm_len(n), fct_rdm_seed(p, n, fct_is_client()));
	memcpy(piece(p->send, n), &stamp, sizeof(stamp));
}

/* The message of the peer's n-th operation, in the buffer of op. */
static int verify(struct rdm *r, const struct rdm_op *op, const struct stamp *want,
		  size_t len)
{
	const uint8_t *buf = piece(op->peer->recv, op->n);
	struct stamp have;

	memcpy(&have, buf, sizeof(have));
	FCT_TRUE(want->peer < fct_rdm_count && want->n < RDM_BURST);
	FCT_EQ(have.peer, want->peer);
	FCT_EQ(have.n, want->n);
	FCT_EQ(len, fct_rdm_len(want->n));
	return fct_compare(buf + sizeof(have), len - sizeof(have),
			   fct_rdm_seed(&r->peers[want->peer], want->n, fct_is_server()),
			   sizeof(have), "a message");
}

/* A peer's receives take what the server sent to it, in order. */
static int check_own(struct rdm *r, struct rdm_op *op, const struct fi_cq_tagged_entry *e)
{
	const struct stamp want = {.peer = op->peer->number, .n = op->n};

	if (!op->receives)
		return 0;
	FCT_EQ(e->flags & (FI_RECV | FI_MSG | FI_TAGGED), FI_RECV | FI_MSG);
	return verify(r, op, &want, e->len);
}

/* The server's untagged receives take whatever comes; the peer has a count of them. */
static int check_any(struct rdm *r, struct rdm_op *op, const struct fi_cq_tagged_entry *e)
{
	struct stamp stamp;

	if (!op->receives)
		return 0;
	FCT_EQ(e->flags & (FI_RECV | FI_MSG | FI_TAGGED), FI_RECV | FI_MSG);
	memcpy(&stamp, piece(op->peer->recv, op->n), sizeof(stamp));
	FCT_TRUE(stamp.peer < fct_rdm_count);
	/* Of one peer they arrive in order. */
	FCT_EQ(stamp.n, r->peers[stamp.peer].result);
	r->peers[stamp.peer].result++;
	return verify(r, op, &stamp, e->len);
}

static int (*check_for(const struct rdm *r))(struct rdm *, struct rdm_op *,
					     const struct fi_cq_tagged_entry *)
{
	return fct_is_client() ? check_own : check_any;
}

static int post_receives(struct rdm *r)
{
	struct rdm_peer *p;
	unsigned int n;

	for (p = r->peers; p < r->peers + fct_rdm_count; p++)
		for (n = 0; n < RDM_BURST; n++)
			FCT_CALL(fi_recv(rdm_ep(r, p), piece(p->recv, n), RDM_LEN,
					 r->buffers.desc, FI_ADDR_UNSPEC, &p->in[n]));
	return 0;
}

/* The n-th message of every peer, then the next of every peer: all are under way. */
static int send_all(struct rdm *r)
{
	struct rdm_peer *p;
	unsigned int n;

	for (n = 0; n < RDM_BURST; n++) {
		for (p = r->peers; p < r->peers + fct_rdm_count; p++) {
			write_message(r, p, n);
			RDM_POST(r, check_for(r),
				 fi_send(rdm_ep(r, p), piece(p->send, n), fct_rdm_len(n),
					 r->buffers.desc, p->to, &p->out[n]));
		}
	}
	return 0;
}

/* Every peer to the server, which then answers every peer. */
FCT_CASE(messages, "every peer and the server send to each other")
{
	const unsigned int all = RDM_BURST * fct_rdm_count;
	FCT_AUTO(fct_rdm_end) struct rdm r = {0};

	FCT_DO(fct_rdm_up(&r, CAPS));
	FCT_DO(post_receives(&r));
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client()) {
		FCT_DO(send_all(&r));
	} else {
		FCT_DO(fct_rdm_await(&r, 0, all, check_any, "the peers' messages"));
		FCT_DO(send_all(&r));
	}
	return fct_rdm_await(&r, all, all, check_for(&r), "all messages");
}

/*
 * The receives of the server name a peer and any of its messages, but for as many as
 * there are peers: these take what is left over.
 */
static bool is_wildcard(const struct rdm_op *op)
{
	return op->n == RDM_BURST - 1;
}

static int check_tagged(struct rdm *r, struct rdm_op *op,
			const struct fi_cq_tagged_entry *e)
{
	struct stamp want;

	if (!op->receives)
		return 0;
	FCT_EQ(e->flags & (FI_RECV | FI_MSG | FI_TAGGED), FI_RECV | FI_TAGGED);
	want.peer = (uint32_t)(e->tag >> TAG_PEER_SHIFT);
	want.n = (uint32_t)(e->tag & TAG_ANY_OF_PEER);
	if (!is_wildcard(op)) {
		FCT_EQ(want.peer, op->peer->number);
		FCT_EQ(want.n, op->n);
	}
	return verify(r, op, &want, e->len);
}

static int post_tagged(struct rdm *r, bool wild)
{
	struct rdm_peer *p;
	unsigned int n;

	for (p = r->peers; p < r->peers + fct_rdm_count; p++) {
		for (n = 0; n < RDM_BURST; n++) {
			if (is_wildcard(&p->in[n]) != wild)
				continue;
			FCT_CALL(fi_trecv(rdm_ep(r, p), piece(p->recv, n), RDM_LEN,
					  r->buffers.desc, FI_ADDR_UNSPEC,
					  wild ? 0x5a5a : tag_of(p, 0),
					  wild ? UINT64_MAX : TAG_ANY_OF_PEER,
					  &p->in[n]));
		}
	}
	return 0;
}

static int send_tagged(struct rdm *r)
{
	struct rdm_peer *p;
	unsigned int n;

	for (n = 0; n < RDM_BURST; n++) {
		for (p = r->peers; p < r->peers + fct_rdm_count; p++) {
			write_message(r, p, n);
			RDM_POST(r, check_tagged,
				 fi_tsend(rdm_ep(r, p), piece(p->send, n), fct_rdm_len(n),
					  r->buffers.desc, p->to, tag_of(p, n),
					  &p->out[n]));
		}
	}
	return 0;
}

FCT_CASE(tagged, "tagged messages, for receives with ignored bits and for wildcards")
{
	const unsigned int all = RDM_BURST * fct_rdm_count;
	FCT_AUTO(fct_rdm_end) struct rdm r = {0};

	FCT_DO(fct_rdm_up(&r, CAPS));
	if (fct_is_server()) {
		FCT_DO(post_tagged(&r, false));
		FCT_DO(post_tagged(&r, true));
	}
	FCT_DO(fct_barrier("receives posted"));
	if (fct_is_client()) {
		FCT_DO(send_tagged(&r));
		return fct_rdm_await(&r, all, 0, check_tagged, "all messages to leave");
	} else {
		return fct_rdm_await(&r, 0, all, check_tagged, "all messages");
	}
	return 0;
}

/*
 * The messages are there before a receive is: the wildcards take the longest of each
 * peer when every other has been asked for.
 */
FCT_CASE(tagged_late, "the same, with all messages there before the receives")
{
	const unsigned int all = RDM_BURST * fct_rdm_count;
	FCT_AUTO(fct_rdm_end) struct rdm r = {0};

	FCT_DO(fct_rdm_up(&r, CAPS));
	if (fct_is_client())
		FCT_DO(send_tagged(&r));
	FCT_DO(fct_barrier("all sent"));
	if (fct_is_client()) {
		return fct_rdm_await(&r, all, 0, check_tagged, "all messages to leave");
	} else {
		FCT_DO(post_tagged(&r, false));
		FCT_DO(fct_rdm_await(&r, 0, all - fct_rdm_count, check_tagged,
				     "the messages asked for"));
		FCT_DO(post_tagged(&r, true));
		return fct_rdm_await(&r, 0, all, check_tagged, "what is left over");
	}
	return 0;
}
