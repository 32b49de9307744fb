/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cairn_test.h"
#include "pair.h"

struct fi_info *pair_hints(const char *prov_name)
{
	struct fi_info *hints = fi_allocinfo();

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_RMA_EVENT;
	hints->mode = FI_RX_CQ_DATA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(prov_name);
	return hints;
}

/* For functions with `int ret` and a label `out:`. */
#define TRY(call)                 \
	do {                      \
		ret = (call);     \
		if (ret)          \
			goto out; \
	} while (0)

static int end_open(struct pair *p, struct pair_end *end)
{
	const uint64_t access =
		FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_FD, .flags = FI_WRITE};
	struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_FD, .format = FI_CQ_FORMAT_DATA};
	int ret;

	TRY(fi_eq_open(p->fabric, &eq_attr, &end->eq, NULL));
	TRY(fi_cq_open(p->domain, &cq_attr, &end->cq, NULL));
	TRY(fi_mr_reg(p->domain, end->buf, sizeof(end->buf), access, 0, 0, 0, &end->mr,
		      NULL));
	end->desc = fi_mr_desc(end->mr);
out:
	return ret;
}

int pair_open(struct pair *p, const char *prov_name)
{
	struct fi_info *hints = pair_hints(prov_name);
	int ret;

	memset(p, 0, sizeof(*p));
	TRY(fi_getinfo(PAIR_API, NULL, NULL, 0, hints, &p->info));
	TRY(fi_fabric(p->info->fabric_attr, &p->fabric, NULL));
	TRY(fi_domain(p->fabric, p->info, &p->domain, NULL));
	TRY(end_open(p, &p->client));
	TRY(end_open(p, &p->server));
	TRY(fi_passive_ep(p->fabric, p->info, &p->pep, NULL));
	TRY(fi_pep_bind(p->pep, &p->server.eq->fid, 0));
	TRY(fi_listen(p->pep));
out:
	fi_freeinfo(hints);
	return ret;
}

static int end_ep(struct pair *p, struct pair_end *end, struct fi_info *info,
		  struct fid_ep *srx)
{
	int ret;

	TRY(fi_endpoint(p->domain, info, &end->ep, end));
	TRY(fi_ep_bind(end->ep, &end->eq->fid, 0));
	TRY(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV));
	if (srx)
		TRY(fi_ep_bind(end->ep, &srx->fid, 0));
	TRY(fi_enable(end->ep));
out:
	return ret;
}

int pair_client(struct pair *p)
{
	return end_ep(p, &p->client, p->info, NULL);
}

/* 0, or the code of a read that gives no event. */
static int next(struct fid_eq *eq, uint32_t event, const char *data,
		struct pair_event *got)
{
	uint32_t came = 0;
	ssize_t ret = fi_eq_read(eq, &came, got, sizeof(*got), 0);

	if (ret < 0)
		return (int)ret;
	CT_EXPECT_EQ(came, event);
	CT_EXPECT_EQ(ret, sizeof(got->entry) + strlen(data));
	CT_EXPECT_MEMEQ(got->data, data, strlen(data));
	return 0;
}

int pair_request(struct pair *p)
{
	struct pair_event event;
	char addr[256];
	size_t len = sizeof(addr);
	int ret;

	TRY(fi_getname(&p->pep->fid, addr, &len));
	TRY(fi_connect(p->client.ep, addr, "please", 6));
	TRY(next(p->server.eq, FI_CONNREQ, "please", &event));
	ret = end_ep(p, &p->server, event.entry.info, p->srx);
	fi_freeinfo(event.entry.info);
out:
	return ret;
}

int pair_up(struct pair *p, const char *prov_name)
{
	struct pair_event event;
	int ret;

	TRY(pair_open(p, prov_name));
	TRY(pair_client(p));
	TRY(pair_request(p));
	TRY(fi_accept(p->server.ep, "yes", 3));
	TRY(next(p->client.eq, FI_CONNECTED, "yes", &event));
	TRY(next(p->server.eq, FI_CONNECTED, "", &event));
out:
	return ret;
}

static void close_fid(struct fid *fid)
{
	CT_EXPECT_EQ(fi_close(fid), 0);
}

static void end_down(struct pair_end *end)
{
	if (end->ep)
		close_fid(&end->ep->fid);
	if (end->mr)
		close_fid(&end->mr->fid);
	if (end->cq)
		close_fid(&end->cq->fid);
}

void pair_down(struct pair *p)
{
	end_down(&p->client);
	end_down(&p->server);
	if (p->srx)
		close_fid(&p->srx->fid);
	if (p->pep)
		close_fid(&p->pep->fid);
	if (p->client.eq)
		close_fid(&p->client.eq->fid);
	if (p->server.eq)
		close_fid(&p->server.eq->fid);
	if (p->domain)
		close_fid(&p->domain->fid);
	if (p->fabric)
		close_fid(&p->fabric->fid);
	if (p->info)
		fi_freeinfo(p->info);
	memset(p, 0, sizeof(*p));
}

size_t pair_expect(struct fid_eq *eq, uint32_t event, struct pair_event *got)
{
	uint32_t came = 0;
	ssize_t ret = fi_eq_read(eq, &came, got, sizeof(*got), 0);

	if (ret < (ssize_t)sizeof(got->entry)) {
		CT_EXPECT_EQ(ret, sizeof(got->entry));
		return SIZE_MAX;
	}
	CT_EXPECT_EQ(came, event);
	return (size_t)ret - sizeof(got->entry);
}

size_t pair_expect_err(struct fid_eq *eq, int err, char data[256])
{
	struct fi_eq_err_entry entry = {.err_data = data, .err_data_size = 256};
	uint32_t event;

	CT_EXPECT_EQ(fi_eq_read(eq, &event, &entry, sizeof(entry), 0), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_eq_readerr(eq, &entry, 0), sizeof(entry));
	CT_EXPECT_EQ(entry.err, err);
	return entry.err_data_size;
}

void pair_done(struct fid_cq *cq, const void *context, uint64_t flags)
{
	struct fi_cq_data_entry entry = {0};

	CT_EXPECT_EQ(fi_cq_read(cq, &entry, 1), 1);
	CT_EXPECT_EQ(entry.op_context, context);
	CT_EXPECT_EQ(entry.flags, flags);
}

void pair_failed(struct fid_cq *cq, const void *context, int err)
{
	struct fi_cq_err_entry entry = {0};
	struct fi_cq_data_entry none;

	CT_EXPECT_EQ(fi_cq_read(cq, &none, 1), -FI_EAVAIL);
	CT_EXPECT_EQ(fi_cq_readerr(cq, &entry, 0), 1);
	CT_EXPECT_EQ(entry.op_context, context);
	CT_EXPECT_EQ(entry.err, err);
}

void pair_nothing(struct fid_cq *cq)
{
	struct fi_cq_data_entry entry;

	CT_EXPECT_EQ(fi_cq_read(cq, &entry, 1), -FI_EAGAIN);
}
