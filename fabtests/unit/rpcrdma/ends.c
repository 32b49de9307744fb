/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "ends.h"

/* For the scripted provider's plugins. */
struct fi_provider *fi_prov_ini(void);

struct fi_provider *scr_tested_ini(void)
{
	return fi_prov_ini();
}

void ends_begin(void)
{
	scr_begin();
	/* A handle of a chunk has as many bits. */
	scr_offer()->domain_attr->mr_key_size = 4;
}

static struct fi_info *ends_info(enum rpr_mode mode)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->caps = mode == RPR_MODE_WRAP ? FI_MSG | FI_RMA : FI_MSG;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->protocol =
		mode == RPR_MODE_RPC ? FI_PROTO_CAIRN_RPC : FI_PROTO_UNSPEC;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(ENDS_STACK);
	CT_EXPECT_EQ(fi_getinfo(PAIR_API, NULL, NULL, 0, hints, &info), 0);
	fi_freeinfo(hints);
	return info;
}

/* For functions with `int ret` and a label `out:`. */
#define TRY(call)                 \
	do {                      \
		ret = (call);     \
		if (ret)          \
			goto out; \
	} while (0)

static int end_open(struct end *end, struct fi_info *info)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_NONE,
				     .format = FI_CQ_FORMAT_DATA};
	int ret;

	TRY(fi_fabric(info->fabric_attr, &end->fabric, NULL));
	TRY(fi_eq_open(end->fabric, &eq_attr, &end->eq, NULL));
	TRY(fi_domain(end->fabric, info, &end->domain, NULL));
	TRY(fi_cq_open(end->domain, &cq_attr, &end->cq, NULL));
out:
	return ret;
}

int ends_open(struct ends *e, enum rpr_mode mode)
{
	int ret;

	ends_close(e);
	e->info = ends_info(mode);
	if (!e->info)
		return -FI_ENODATA;
	TRY(end_open(&e->client, e->info));
	TRY(end_open(&e->server, e->info));
	TRY(fi_passive_ep(e->server.fabric, e->info, &e->pep, NULL));
	TRY(fi_pep_bind(e->pep, &e->server.eq->fid, 0));
	TRY(fi_listen(e->pep));
out:
	return ret;
}

int ends_bind(struct end *end)
{
	int ret = fi_ep_bind(end->ep, &end->eq->fid, 0);

	return ret ? ret : fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV);
}

int ends_endpoint(struct end *end, struct fi_info *info)
{
	int ret;

	TRY(fi_endpoint(end->domain, info, &end->ep, end));
	TRY(ends_bind(end));
	TRY(fi_enable(end->ep));
out:
	return ret;
}

int ends_connect(struct ends *e)
{
	char addr[256];
	size_t len = sizeof(addr);
	int ret = fi_getname(&e->pep->fid, addr, &len);

	return ret ? ret : fi_connect(e->client.ep, addr, NULL, 0);
}

struct fi_info *ends_request(struct ends *e)
{
	struct pair_event event = {.entry.info = NULL};

	CT_EXPECT_EQ(ends_endpoint(&e->client, e->info), 0);
	CT_EXPECT_EQ(ends_connect(e), 0);
	CT_EXPECT_EQ(pair_expect(e->server.eq, FI_CONNREQ, &event), 0);
	return event.entry.info;
}

int ends_accept(struct ends *e, struct fi_info *request)
{
	int ret;

	TRY(ends_endpoint(&e->server, request));
	TRY(fi_accept(e->server.ep, NULL, 0));
out:
	return ret;
}

void ends_connected(struct ends *e)
{
	struct pair_event event;

	CT_EXPECT_EQ(pair_expect(e->client.eq, FI_CONNECTED, &event), 0);
	CT_EXPECT_EQ(pair_expect(e->server.eq, FI_CONNECTED, &event), 0);
}

int ends_up(struct ends *e, enum rpr_mode mode)
{
	struct fi_info *request;
	int ret;

	TRY(ends_open(e, mode));
	request = ends_request(e);
	ret = ends_accept(e, request);
	fi_freeinfo(request);
	ends_connected(e);
out:
	return ret;
}

static void close_fid(struct fid *fid)
{
	CT_EXPECT_EQ(fi_close(fid), 0);
}

static void end_close(struct end *end)
{
	if (end->ep)
		close_fid(&end->ep->fid);
	if (end->cq)
		close_fid(&end->cq->fid);
	if (end->domain)
		close_fid(&end->domain->fid);
	if (end->eq)
		close_fid(&end->eq->fid);
	if (end->fabric)
		close_fid(&end->fabric->fid);
}

void ends_close(struct ends *e)
{
	if (!e->info)
		return;
	if (e->pep)
		close_fid(&e->pep->fid);
	end_close(&e->client);
	end_close(&e->server);
	fi_freeinfo(e->info);
	memset(e, 0, sizeof(*e));
	CT_EXPECT_EQ(scr_open(), 0);
}

void ends_recv(struct end *end, unsigned int i)
{
	CT_EXPECT_EQ(fi_recv(end->ep, end->got[i], ENDS_LONG, NULL, 0, end->got[i]), 0);
}

void ends_message(struct end *from, struct end *to)
{
	ends_recv(to, 0);
	CT_EXPECT_EQ(fi_send(from->ep, from->sent, ENDS_SHORT, NULL, 0, from), 0);
	pair_done(to->cq, to->got[0], FI_RECV | FI_MSG);
	pair_nothing(to->cq);
	pair_done(from->cq, from, FI_SEND | FI_MSG);
	pair_nothing(from->cq);
}

void ends_send(struct end *from, size_t len)
{
	CT_EXPECT_EQ(fi_send(from->ep, from->sent, len, NULL, 0, from), 0);
}

void ends_byte(struct end *from, char byte)
{
	from->sent[0] = byte;
	CT_EXPECT_EQ(fi_inject(from->ep, from->sent, ENDS_SHORT, 0), 0);
}

void ends_rpc(struct end *from, uint32_t xid, bool reply)
{
	memset(from->sent, 0, ENDS_LONG);
	from->sent[2] = (char)(xid >> 8);
	from->sent[3] = (char)xid;
	from->sent[7] = reply;
	from->sent[11] = reply ? 0 : 2;
}

void ends_hold(struct end *end)
{
	scr_hold(SCR_ARRIVALS);
	pair_nothing(end->cq);
	scr_hold(0);
}

void ends_no_event(struct fid_eq *eq)
{
	struct pair_event event;
	uint32_t number;

	CT_EXPECT_EQ(fi_eq_read(eq, &number, &event, sizeof(event), 0), -FI_EAGAIN);
}
