/* SPDX-License-Identifier: BSD-2-Clause */
/* Objects, events and completions. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "end.h"
#include "lower.h"
#include "pump.h"

#define QUEUE 1024

static void on_completion(struct end *end, const struct fi_cq_err_entry *entry)
{
	struct op *op = entry->op_context;

	CT_EXPECT_NE(op, NULL);
	if (!op)
		return;
	CT_EXPECT_FALSE(op->done);
	op->done = true;
	op->when = end->completions++;
	op->err = entry->err;
	op->prov_errno = entry->prov_errno;
	op->flags = entry->flags;
	op->data = entry->data;
	op->len = entry->len;
	op->olen = entry->olen;
	if (op->takes) {
		*end->received_last = op;
		end->received_last = &op->after;
	}
}

static void poll_cq(struct end *end)
{
	struct fi_cq_err_entry wrong = {0}, good = {0};
	struct fi_cq_data_entry entry;
	ssize_t ret;

	for (;;) {
		ret = fi_cq_read(end->cq, &entry, 1);
		if (ret == 1) {
			good.op_context = entry.op_context;
			good.flags = entry.flags;
			good.len = entry.len;
			good.data = entry.data;
			on_completion(end, &good);
		} else if (ret == -FI_EAVAIL && fi_cq_readerr(end->cq, &wrong, 0) == 1) {
			CT_EXPECT_GT(wrong.err, 0);
			on_completion(end, &wrong);
		} else {
			CT_EXPECT_EQ(ret, -FI_EAGAIN);
			return;
		}
	}
}

static void keep_private(struct end *end, const struct fi_eq_cm_entry *entry, ssize_t ret)
{
	end->private_len = (size_t)ret - sizeof(*entry);
	memcpy(end->private, entry->data, end->private_len);
}

static void on_error(struct end *end)
{
	struct fi_eq_err_entry wrong = {0};

	if (fi_eq_readerr(end->eq, &wrong, 0) != (ssize_t)sizeof(wrong) || !end->ep ||
	    wrong.fid != &end->ep->fid)
		return;
	if (!end->connected) {
		end->refused = true;
		return;
	}
	end->eq_errors++;
	end->eq_error = wrong;
}

static void poll_eq(struct end *end)
{
	struct {
		struct fi_eq_cm_entry entry;
		char data[sizeof(end->private)];
	} event;
	uint32_t kind;
	ssize_t ret = fi_eq_read(end->eq, &kind, &event, sizeof(event), 0);

	if (ret == -FI_EAVAIL)
		on_error(end);
	if (ret < (ssize_t)sizeof(event.entry))
		return;
	if (kind == FI_CONNREQ) {
		end->request = event.entry.info;
		keep_private(end, &event.entry, ret);
	} else if (!end->ep || event.entry.fid != &end->ep->fid) {
		return;
	} else if (kind == FI_CONNECTED) {
		end->connected = true;
		if (!end->private_len)
			keep_private(end, &event.entry, ret);
	} else if (kind == FI_SHUTDOWN) {
		end->shutdowns++;
	}
}

static void poll_end(void *arg)
{
	struct end *end = arg;

	poll_cq(end);
	poll_eq(end);
}

static void open_queues(struct end *end)
{
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_NONE};
	struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_DATA,
				     .wait_obj = FI_WAIT_NONE,
				     .size = QUEUE};

	end->received_last = &end->received;
	end->mr_local = end->info->domain_attr->mr_mode & FI_MR_LOCAL;
	CT_ASSERT_EQ(fi_eq_open(end->fabric, &eq_attr, &end->eq, NULL), 0);
	CT_ASSERT_EQ(fi_cq_open(end->domain, &cq_attr, &end->cq, NULL), 0);
	pump_add(poll_end, end);
}

void end_open(struct end *end)
{
	struct fi_info *hints;
	char stack[64];

	memset(end, 0, sizeof(*end));
	snprintf(stack, sizeof(stack), "%s;rpcrdma", lower_name());
	hints = lower_hints(stack, FI_MSG);
	hints->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	CT_EXPECT_EQ(fi_getinfo(LOWER_API, lower_address(), NULL, FI_SOURCE, hints,
				&end->info),
		     0);
	fi_freeinfo(hints);
	CT_ASSERT_NE(end->info, NULL);
	CT_ASSERT_EQ(fi_fabric(end->info->fabric_attr, &end->fabric, NULL), 0);
	CT_ASSERT_EQ(fi_domain(end->fabric, end->info, &end->domain, NULL), 0);
	open_queues(end);
}

void end_open_in(struct end *end, const struct end *other)
{
	memset(end, 0, sizeof(*end));
	end->info = fi_dupinfo(other->info);
	end->fabric = other->fabric;
	end->domain = other->domain;
	end->borrowed = true;
	open_queues(end);
}

static void forget_ops(struct end *end)
{
	struct op *next;

	for (; end->ops; end->ops = next) {
		next = end->ops->next;
		if (end->ops->mr)
			CT_EXPECT_EQ(fi_close(&end->ops->mr->fid), 0);
		free(end->ops->buf);
		free(end->ops);
	}
	end->received = NULL;
	end->received_last = &end->received;
}

void end_drop(struct end *end)
{
	if (end->ep)
		CT_EXPECT_EQ(fi_close(&end->ep->fid), 0);
	end->ep = NULL;
	if (end->cq)
		poll_cq(end);
	forget_ops(end);
	if (end->request)
		fi_freeinfo(end->request);
	end->request = NULL;
	end->connected = end->refused = false;
	end->private_len = 0;
	end->shutdowns = end->eq_errors = end->completions = 0;
}

void end_close(struct end *end)
{
	end_drop(end);
	pump_remove(end);
	if (end->pep)
		CT_EXPECT_EQ(fi_close(&end->pep->fid), 0);
	if (end->cq)
		CT_EXPECT_EQ(fi_close(&end->cq->fid), 0);
	if (end->eq)
		CT_EXPECT_EQ(fi_close(&end->eq->fid), 0);
	if (end->domain && !end->borrowed)
		CT_EXPECT_EQ(fi_close(&end->domain->fid), 0);
	if (end->fabric && !end->borrowed)
		CT_EXPECT_EQ(fi_close(&end->fabric->fid), 0);
	if (end->info)
		fi_freeinfo(end->info);
	memset(end, 0, sizeof(*end));
}

void end_listen(struct end *end)
{
	CT_ASSERT_EQ(fi_passive_ep(end->fabric, end->info, &end->pep, NULL), 0);
	CT_ASSERT_EQ(fi_pep_bind(end->pep, &end->eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_listen(end->pep), 0);
}

const void *end_name(struct end *end)
{
	static char name[256];
	size_t len = sizeof(name);

	CT_EXPECT_EQ(fi_getname(&end->pep->fid, name, &len), 0);
	return name;
}

static void set_size(struct end *end, int option, size_t value)
{
	CT_EXPECT_EQ(fi_setopt(&end->ep->fid, FI_OPT_ENDPOINT, option, &value,
			       sizeof(value)),
		     0);
}

static void open_ep(struct end *end, const struct end_setup *setup, struct fi_info *info)
{
	CT_ASSERT_EQ(fi_endpoint(end->domain, info, &end->ep, NULL), 0);
	CT_ASSERT_EQ(fi_ep_bind(end->ep, &end->eq->fid, 0), 0);
	CT_ASSERT_EQ(fi_ep_bind(end->ep, &end->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	set_size(end, FI_OPT_CAIRN_RPC_CALLS, setup->calls);
	set_size(end, FI_OPT_CAIRN_RPC_GRANT, setup->grant);
	set_size(end, FI_OPT_CAIRN_RPC_COPY, setup->copy);
	set_size(end, FI_OPT_CAIRN_RPC_REPLY_SIZE, setup->reply_size);
	CT_EXPECT_EQ(end_set(end, FI_OPT_CAIRN_RPC_CHUNKS, setup->chunks), 0);
	CT_EXPECT_EQ(end_set(end, FI_OPT_CAIRN_RPC_SYSTEM_ERR, setup->system_err), 0);
	CT_ASSERT_EQ(fi_enable(end->ep), 0);
	CT_EXPECT_EQ(fi_open_ops(&end->ep->fid, FI_CAIRN_RPC_STATS, 0,
				 (void **)&end->stats, NULL),
		     0);
	for (unsigned int i = 0; i < setup->receives; i++)
		CT_EXPECT_EQ(end_recv(end, end_op(end, setup->receive_size)), 0);
}

void end_connect(struct end *end, const struct end_setup *setup, const void *addr,
		 const char *data)
{
	struct fi_info *info = lower_info_to(end->info, addr);

	open_ep(end, setup, info);
	fi_freeinfo(info);
	if (end->ep)
		CT_EXPECT_EQ(fi_connect(end->ep, addr, data, strlen(data)), 0);
}

void end_accept(struct end *end, const struct end_setup *setup, const char *data)
{
	open_ep(end, setup, end->request);
	if (end->ep)
		CT_EXPECT_EQ(fi_accept(end->ep, data, strlen(data)), 0);
}

int end_set(struct end *end, int option, int value)
{
	return fi_setopt(&end->ep->fid, FI_OPT_ENDPOINT, option, &value, sizeof(value));
}

struct fi_cairn_rpc_limits end_limits(struct end *end)
{
	struct fi_cairn_rpc_limits limits = {0};
	size_t len = sizeof(limits);

	CT_EXPECT_EQ(fi_getopt(&end->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CAIRN_RPC_LIMITS,
			       &limits, &len),
		     0);
	return limits;
}

struct fi_cairn_rpc_stats end_stats(struct end *end)
{
	struct fi_cairn_rpc_stats stats = {0};

	if (end->stats)
		CT_EXPECT_EQ(end->stats->read(end->ep, &stats, sizeof(stats)), 0);
	return stats;
}
