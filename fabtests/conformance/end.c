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
		ret = fi_cq_read(end->side.cq, &entry, 1);
		if (ret == 1) {
			good.op_context = entry.op_context;
			good.flags = entry.flags;
			good.len = entry.len;
			good.data = entry.data;
			on_completion(end, &good);
		} else if (ret == -FI_EAVAIL &&
			   fi_cq_readerr(end->side.cq, &wrong, 0) == 1) {
			CT_EXPECT_GT(wrong.err, 0);
			on_completion(end, &wrong);
		} else {
			CT_EXPECT_EQ(ret, -FI_EAGAIN);
			return;
		}
	}
}

static void poll_end(void *arg)
{
	struct end *end = arg;

	poll_cq(end);
	side_poll_eq(&end->side);
}

static void open_queues(struct end *end)
{
	end->received_last = &end->received;
	end->mr_local = end->side.info->domain_attr->mr_mode & FI_MR_LOCAL;
	side_open_queues(&end->side, FI_CQ_FORMAT_DATA, QUEUE);
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
	side_open(&end->side, hints);
	if (end->side.domain)
		open_queues(end);
}

void end_open_in(struct end *end, const struct end *other)
{
	memset(end, 0, sizeof(*end));
	end->side = (struct side){.info = fi_dupinfo(other->side.info),
				  .fabric = other->side.fabric,
				  .domain = other->side.domain,
				  .borrowed = true};
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
	side_drop(&end->side);
	if (end->side.cq)
		poll_cq(end);
	forget_ops(end);
	end->completions = 0;
}

void end_close(struct end *end)
{
	end_drop(end);
	pump_remove(end);
	side_close(&end->side);
	memset(end, 0, sizeof(*end));
}

void end_listen(struct end *end)
{
	side_open_pep(&end->side);
	CT_ASSERT_EQ(fi_listen(end->side.pep), 0);
}

static void set_size(struct end *end, int option, size_t value)
{
	CT_EXPECT_EQ(fi_setopt(&end->side.ep->fid, FI_OPT_ENDPOINT, option, &value,
			       sizeof(value)),
		     0);
}

static void open_ep(struct end *end, const struct end_setup *setup, struct fi_info *info)
{
	side_open_ep(&end->side, info);
	CT_OR_RETURN(end->side.ep);
	set_size(end, FI_OPT_CAIRN_RPC_CALLS, setup->calls);
	set_size(end, FI_OPT_CAIRN_RPC_GRANT, setup->grant);
	set_size(end, FI_OPT_CAIRN_RPC_COPY, setup->copy);
	set_size(end, FI_OPT_CAIRN_RPC_REPLY_SIZE, setup->reply_size);
	CT_EXPECT_EQ(end_set(end, FI_OPT_CAIRN_RPC_CHUNKS, setup->chunks), 0);
	CT_EXPECT_EQ(end_set(end, FI_OPT_CAIRN_RPC_SYSTEM_ERR, setup->system_err), 0);
	CT_ASSERT_EQ(fi_enable(end->side.ep), 0);
	CT_EXPECT_EQ(fi_open_ops(&end->side.ep->fid, FI_CAIRN_RPC_STATS, 0,
				 (void **)&end->stats, NULL),
		     0);
	for (unsigned int i = 0; i < setup->receives; i++)
		CT_EXPECT_EQ(end_recv(end, end_op(end, setup->receive_size)), 0);
}

void end_connect(struct end *end, const struct end_setup *setup, const void *addr,
		 const char *data)
{
	struct fi_info *info = lower_info_to(end->side.info, addr);

	open_ep(end, setup, info);
	fi_freeinfo(info);
	if (end->side.ep)
		CT_EXPECT_EQ(fi_connect(end->side.ep, addr, data, strlen(data)), 0);
}

void end_accept(struct end *end, const struct end_setup *setup, const char *data)
{
	open_ep(end, setup, end->side.request);
	if (end->side.ep)
		CT_EXPECT_EQ(fi_accept(end->side.ep, data, strlen(data)), 0);
}

int end_set(struct end *end, int option, int value)
{
	return fi_setopt(&end->side.ep->fid, FI_OPT_ENDPOINT, option, &value,
			 sizeof(value));
}

struct fi_cairn_rpc_limits end_limits(struct end *end)
{
	struct fi_cairn_rpc_limits limits = {0};
	size_t len = sizeof(limits);

	CT_EXPECT_EQ(fi_getopt(&end->side.ep->fid, FI_OPT_ENDPOINT,
			       FI_OPT_CAIRN_RPC_LIMITS, &limits, &len),
		     0);
	return limits;
}

struct fi_cairn_rpc_stats end_stats(struct end *end)
{
	struct fi_cairn_rpc_stats stats = {0};

	if (end->stats)
		CT_EXPECT_EQ(end->stats->read(end->side.ep, &stats, sizeof(stats)), 0);
	return stats;
}
