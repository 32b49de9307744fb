/* SPDX-License-Identifier: BSD-2-Clause */
/* A life of a datagram endpoint, which sends to itself and to a group it has joined. */
#include <arpa/inet.h>

#include "fault_step.h"

#define LEN 64u
#define NAME_LEN 64

static int ask(struct scene *s)
{
	const struct fct_setup setup = {.caps = FI_MSG | FI_MULTICAST};
	struct fi_info *hints = fct_hints(&setup);
	int ret = -FI_ENOMEM;

	if (hints) {
		hints->ep_attr->type = FI_EP_DGRAM;
		ret = fi_getinfo(FCT_API, fct.opts.src, NULL, FI_SOURCE, hints, &s->here);
	}
	fi_freeinfo(hints);
	return ret;
}

static int objects(struct scene *s)
{
	struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
	struct fi_eq_attr eq = {.wait_obj = FI_WAIT_FD};
	struct fi_av_attr av = {.type = FI_AV_TABLE};

	STEP(s, ask(s));
	STEP(s, fi_fabric(s->here->fabric_attr, &s->fabric, NULL));
	STEP(s, fi_eq_open(s->fabric, &eq, &s->eq, NULL));
	STEP(s, fi_domain(s->fabric, s->here, &s->domain, NULL));
	STEP(s, fi_cq_open(s->domain, &cq, &s->cq, NULL));
	STEP(s, fi_cntr_open(s->domain, NULL, &s->cntr, NULL));
	STEP(s, fi_av_open(s->domain, &av, &s->av, NULL));
	STEP(s, fi_mr_reg(s->domain, s->words, sizeof(s->words), FI_SEND | FI_RECV, 0, 0,
			  0, &s->mr, NULL));
	STEP(s, fi_endpoint(s->domain, s->here, &s->active.ep, NULL));
	STEP(s, fi_ep_bind(s->active.ep, &s->eq->fid, 0));
	STEP(s, fi_ep_bind(s->active.ep, &s->av->fid, 0));
	STEP(s, fi_ep_bind(s->active.ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	STEP(s, fi_ep_bind(s->active.ep, &s->cntr->fid, FI_SEND | FI_RECV));
	STEP(s, fi_enable(s->active.ep));
	return s->err;
}

static int insert(struct scene *s, const void *name, fi_addr_t *addr)
{
	int err = 0, ret = fi_av_insert(s->av, name, 1, addr, FI_SYNC_ERR, &err);

	if (ret == 1)
		return 0;
	return ret ? ret : -err;
}

static int to_itself(struct scene *s)
{
	void *desc = fi_mr_desc(s->mr);
	struct fid_ep *ep = s->active.ep;
	uint64_t *to = s->words + 32;
	uint8_t name[NAME_LEN];
	size_t len = sizeof(name);
	fi_addr_t self;

	fct_fill(s->words, LEN, 1);
	STEP(s, fi_getname(&ep->fid, name, &len));
	STEP(s, insert(s, name, &self));
	POST(s, OP_RECV, fi_recv(ep, to, LEN, desc, FI_ADDR_UNSPEC, &s->op[OP_RECV]));
	POST(s, OP_SEND, fi_send(ep, s->words, LEN, desc, self, &s->op[OP_SEND]));
	if (fct_scene_until(s, "a datagram", fct_scene_ended))
		return s->err;
	if (memcmp(s->words, to, LEN))
		snprintf(s->wrong, sizeof(s->wrong), "a datagram that came differs");
	STEP(s, fi_av_remove(s->av, &self, 1, 0));
	return s->err;
}

static bool joined(const struct scene *s)
{
	return s->joined;
}

/* No receive is posted any more, so none of it comes back. */
static int to_group(struct scene *s)
{
	struct sockaddr_in group = {.sin_family = AF_INET};
	struct fid_ep *ep = s->active.ep;

	group.sin_addr.s_addr = htonl(0xefff0102);
	STEP(s, fi_join(ep, &group, 0, &s->mc, s));
	if (fct_scene_until(s, "FI_JOIN_COMPLETE", joined))
		return s->err;
	POST(s, OP_CHAINED,
	     fi_send(ep, s->words, LEN, fi_mr_desc(s->mr), fi_mc_addr(s->mc),
		     &s->op[OP_CHAINED]));
	return fct_scene_until(s, "a send to a group", fct_scene_ended);
}

int fct_scene_datagrams(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	if (!objects(s) && !to_itself(s))
		to_group(s);
	return s->err;
}
