/* SPDX-License-Identifier: BSD-2-Clause */
/* A server's endpoint and its many peers: opened, introduced, waited for. */
#include <getopt.h>
#include <stdlib.h>

#include "rdm.h"

uint32_t fct_rdm_count = 32;

#define NAME_LEN 64

size_t fct_rdm_len(unsigned int n)
{
	static const size_t len[RDM_BURST] = {24, 4000, RDM_LEN};

	return len[n];
}

uint64_t fct_rdm_seed(const struct rdm_peer *p, unsigned int n, bool from_client)
{
	return ((uint64_t)p->number * RDM_BURST + n) * 2 + from_client;
}

static int name_of(struct fid_ep *ep, uint8_t name[NAME_LEN])
{
	size_t len = NAME_LEN;

	memset(name, 0, NAME_LEN);
	FCT_CALL(fi_getname(&ep->fid, name, &len));
	return 0;
}

/* The client finds the server by its address, and the server its peers by theirs. */
static int serve(struct rdm *r)
{
	uint8_t name[NAME_LEN];
	uint32_t i;

	FCT_DO(fct_ep_new(&r->l, &r->server));
	FCT_DO(name_of(r->server.ep, name));
	FCT_DO(fct_tell("server", name, sizeof(name)));
	for (i = 0; i < fct_rdm_count; i++) {
		FCT_DO(fct_hear("peer", name, sizeof(name)));
		FCT_EQ(fi_av_insert(r->l.av, name, 1, &r->peers[i].to, 0, NULL), 1);
	}
	return 0;
}

static int meet(struct rdm *r)
{
	uint8_t name[NAME_LEN];
	fi_addr_t to;
	uint32_t i;

	FCT_DO(fct_hear("server", name, sizeof(name)));
	FCT_EQ(fi_av_insert(r->l.av, name, 1, &to, 0, NULL), 1);
	for (i = 0; i < fct_rdm_count; i++) {
		FCT_DO(fct_ep_new(&r->l, &r->peers[i].c));
		r->peers[i].to = to;
		FCT_DO(name_of(r->peers[i].c.ep, name));
		FCT_DO(fct_tell("peer", name, sizeof(name)));
	}
	return 0;
}

static int give_memory(struct rdm *r)
{
	const uint64_t access = FI_SEND | FI_RECV | FI_READ | FI_WRITE;
	const size_t each = (size_t)RDM_BURST * RDM_LEN;
	struct rdm_peer *p = r->peers;
	uint32_t i;

	FCT_DO(fct_mem_alloc(&r->l, &r->buffers, 2 * each * fct_rdm_count, access));
	FCT_DO(fct_mem_alloc(&r->l, &r->regions, (size_t)RDM_REGION * (fct_rdm_count + 1),
			     access | FI_REMOTE_READ | FI_REMOTE_WRITE));
	for (i = 0; i < fct_rdm_count; i++, p++) {
		p->send = r->buffers.buf + 2 * each * i;
		p->recv = p->send + each;
		p->region = r->regions.buf + (size_t)RDM_REGION * i;
	}
	return 0;
}

int fct_rdm_up(struct rdm *r, uint64_t caps)
{
	return fct_rdm_up_by(r, caps, FI_PROGRESS_UNSPEC);
}

int fct_rdm_up_by(struct rdm *r, uint64_t caps, enum fi_progress data_progress)
{
	const struct fct_setup s = {.caps = caps,
				    .msg_order = FI_ORDER_SAS,
				    .data_progress = data_progress,
				    .cq_size = (size_t)4 * RDM_BURST * fct_rdm_count,
				    .format = FI_CQ_FORMAT_TAGGED};
	const struct fi_av_attr av = {.count = fct_rdm_count};
	const char *node = NULL;
	unsigned int n;
	uint32_t i;

	memset(r, 0, sizeof(*r));
	if (fct_is_client())
		node = fct.opts.host ? fct.opts.host : fct.opts.self;
	r->peers = calloc(fct_rdm_count, sizeof(*r->peers));
	FCT_TRUE(r->peers);
	for (i = 0; i < fct_rdm_count; i++) {
		r->peers[i].number = i;
		for (n = 0; n < RDM_BURST; n++) {
			r->peers[i].out[n].peer = r->peers[i].in[n].peer = &r->peers[i];
			r->peers[i].out[n].n = r->peers[i].in[n].n = n;
			r->peers[i].in[n].receives = true;
		}
	}
	FCT_DO(fct_plain_open(&r->l, &s, node, &av));
	FCT_DO(fct_is_client() ? meet(r) : serve(r));
	FCT_DO(give_memory(r));
	return fct_barrier("introduced");
}

void fct_rdm_end(struct rdm *r)
{
	fct_link_down(&r->l, fct_ret());
	free(r->peers);
}

int fct_rdm_exchange_targets(struct rdm *r)
{
	struct fct_target mine = fct_mem_target(&r->l, &r->regions), theirs;
	uint32_t i;

	FCT_DO(fct_exchange("regions", &mine, &theirs, sizeof(mine)));
	for (i = 0; i < fct_rdm_count; i++) {
		r->peers[i].target = theirs;
		r->peers[i].target.addr += (uint64_t)RDM_REGION * i;
		r->peers[i].target.len = RDM_REGION;
	}
	return 0;
}

int fct_rdm_take(struct rdm *r, int (*check)(struct rdm *r, struct rdm_op *op,
					     const struct fi_cq_tagged_entry *e))
{
	struct fi_cq_tagged_entry e[16];
	struct rdm_op *op;
	ssize_t n, i;

	n = fi_cq_read(r->l.txcq, e, 16);
	if (n == -FI_EAGAIN)
		return 0;
	if (n == -FI_EAVAIL)
		FCT_DO(fct_cq_fail(r->l.txcq, "an operation"));
	FCT_CALL(n);
	for (i = 0; i < n; i++) {
		op = e[i].op_context;
		FCT_TRUE(op && op->peer && !op->done);
		op->done = true;
		if (op->receives)
			r->received++;
		else
			r->sent++;
		if (check)
			FCT_DO(check(r, op, &e[i]));
	}
	return (int)n;
}

int fct_rdm_await(struct rdm *r, unsigned int sent, unsigned int received,
		  int (*check)(struct rdm *r, struct rdm_op *op,
			       const struct fi_cq_tagged_entry *e),
		  const char *what)
{
	struct fct_wait w;
	int ret;

	fct_wait_init(&w, what);
	while (r->sent < sent || r->received < received) {
		FCT_GET(ret, fct_rdm_take(r, check));
		if (ret)
			fct_wait_init(&w, what);
		else if (fct_wait_again(&w))
			FCT_FAIL("%u of %u sent, %u of %u received", r->sent, sent,
				 r->received, received);
	}
	FCT_EQ(r->sent, sent);
	FCT_EQ(r->received, received);
	return 0;
}

/* ---- the program ---- */

#define RDM_MOST 10000u

static const struct option options[] = {
	{"count", required_argument, NULL, 'n'},
	{0},
};

static int option(int val, const char *arg)
{
	(void)val;
	fct_rdm_count = (uint32_t)fct_number(arg, 1, RDM_MOST);
	return fct_rdm_count ? 0 : -1;
}

FCT_PROGRAM(.name = "fi_cairn_rdm",
	    .what = "Reliable datagram endpoints, and many peers of one.",
	    .ep_type = FI_EP_RDM, .options = options,
	    .help = "  -n, --count=N           peers, at the client (default 32); "
		    "both "
		    "sides need the same\n",
	    .option = option)
