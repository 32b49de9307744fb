/* SPDX-License-Identifier: BSD-2-Clause */
#include <limits.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include <cairn/bytes.h>
#include "sa_client.h"

void pvb_sa_open(struct pvb_sa_client *client, const struct pvb_sa_ops *ops, void *arg,
		 uint32_t tid)
{
	memset(client, 0, sizeof(*client));
	client->ops = ops;
	client->arg = arg;
	client->tid = tid;
}

/* The slot is free before done is called, which may ask for more. */
static void finish(struct pvb_sa_transaction *trans, const struct pvb_sa_answer *answer)
{
	struct pvb_rmpp table = trans->table;

	trans->used = false;
	trans->done(trans->arg, answer);
	pvb_rmpp_fini(&table);
}

static void fail(struct pvb_sa_transaction *trans, int err, uint64_t now_ms)
{
	const struct pvb_sa_answer answer = {.err = err, .now_ms = now_ms};

	finish(trans, &answer);
}

void pvb_sa_close(struct pvb_sa_client *client)
{
	size_t i;

	/* While any is used, none can be taken. */
	client->ops = NULL;
	for (i = 0; i < PVB_SA_OUTSTANDING; i++)
		if (client->outstanding[i].used)
			fail(&client->outstanding[i], -FI_ECANCELED, 0);
}

/* Segments of a table that are still on their way are not of the one that is asked for
 * now. Any other answer is as good when it is late. */
static void renumber(struct pvb_sa_client *client, struct pvb_sa_transaction *trans)
{
	trans->tid = client->tid++;
	crn_put_be64(trans->mad + PVB_MAD_TID_AT, trans->tid);
}

static void send_try(struct pvb_sa_client *client, struct pvb_sa_transaction *trans,
		     uint64_t now_ms)
{
	trans->tries--;
	trans->due_ms = now_ms + trans->wait_ms;
	if (trans->table.segment)
		renumber(client, trans);
	pvb_rmpp_fini(&trans->table);
	pvb_rmpp_init(&trans->table, PVB_SA_TABLE_MAX);
	client->ops->send(client->arg, trans->mad, trans->wait_ms);
}

static struct pvb_sa_transaction *free_slot(struct pvb_sa_client *client)
{
	size_t i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++)
		if (!client->outstanding[i].used)
			return &client->outstanding[i];
	return NULL;
}

int pvb_sa_ask(struct pvb_sa_client *client, const struct pvb_sa_request *request,
	       uint64_t now_ms)
{
	struct pvb_sa_transaction *trans;
	struct pvb_sa_hdr hdr = {.method = request->method,
				 .attr = request->attr,
				 .comp_mask = request->comp_mask,
				 .sm_key = request->sm_key,
				 .rmpp_version = request->method == PVB_SA_GET_TABLE};

	if (request->len > PVB_SA_DATA_SIZE || !request->tries || !client->ops)
		return -FI_EINVAL;
	trans = free_slot(client);
	if (!trans)
		return -FI_EAGAIN;
	hdr.tid = client->tid;
	*trans = (struct pvb_sa_transaction){.used = true,
					     .tid = client->tid++,
					     .tries = request->tries,
					     .wait_ms = request->wait_ms,
					     .done = request->done,
					     .arg = request->arg};
	pvb_sa_pack(trans->mad, &hdr);
	if (request->len)
		memcpy(pvb_sa_data(trans->mad), request->data, request->len);
	send_try(client, trans, now_ms);
	return 0;
}

void pvb_sa_cancel(struct pvb_sa_client *client, const void *arg)
{
	struct pvb_sa_transaction *trans;
	size_t i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++) {
		trans = &client->outstanding[i];
		if (!trans->used || trans->arg != arg)
			continue;
		trans->used = false;
		pvb_rmpp_fini(&trans->table);
	}
}

/* The kernel uses the upper half of the number to find the program. */
static struct pvb_sa_transaction *find(struct pvb_sa_client *client,
				       const struct pvb_sa_hdr *hdr)
{
	struct pvb_sa_transaction *trans;
	struct pvb_sa_hdr asked;
	size_t i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++) {
		trans = &client->outstanding[i];
		if (!trans->used || trans->tid != (uint32_t)hdr->tid)
			continue;
		pvb_sa_unpack(trans->mad, sizeof(trans->mad), &asked);
		/* A Set is answered by a GetResp (specification 13.4.5). */
		if (asked.method == PVB_SA_SET)
			asked.method = PVB_SA_GET;
		return hdr->method == (asked.method | PVB_SA_RESPONSE) &&
				       hdr->attr == asked.attr
			       ? trans
			       : NULL;
	}
	return NULL;
}

static void table_segment(struct pvb_sa_client *client, struct pvb_sa_transaction *trans,
			  const struct pvb_sa_hdr *hdr, const uint8_t *data,
			  uint64_t now_ms)
{
	struct pvb_sa_answer answer = {.status = hdr->status, .now_ms = now_ms};
	const uint32_t before = trans->table.segment;
	uint8_t mad[PVB_MAD_SIZE];
	bool ack;
	int ret;

	ret = pvb_rmpp_segment(&trans->table, hdr, data, &ack);
	if (ret < 0) {
		pvb_rmpp_give_up(ret, hdr, mad);
		client->ops->send(client->arg, mad, 0);
		fail(trans, ret, now_ms);
		return;
	}
	if (ack) {
		pvb_rmpp_ack(&trans->table, hdr, mad);
		client->ops->send(client->arg, mad, 0);
	}
	/* One that is repeated gives no more time. */
	if (trans->table.segment > before)
		trans->due_ms = now_ms + trans->wait_ms;
	if (!ret)
		return;
	answer.record_size = hdr->attr_offset * (size_t)8;
	answer.data = trans->table.data;
	answer.len = trans->table.len;
	finish(trans, &answer);
}

static void answered(struct pvb_sa_client *client, struct pvb_sa_transaction *trans,
		     const struct pvb_sa_hdr *hdr, const uint8_t *data, size_t len,
		     uint64_t now_ms)
{
	const struct pvb_sa_answer answer = {.status = hdr->status,
					     .record_size = hdr->attr_offset * (size_t)8,
					     .data = data,
					     .len = len,
					     .now_ms = now_ms};

	/* It is asked again when the answer would be late. */
	if (hdr->status & PVB_SA_BUSY)
		return;
	/* Active, and of no type: what opensm answers for a table where libibumad has no
	 * RMPP, as on ibsim. */
	if (!(hdr->rmpp_flags & PVB_RMPP_ACTIVE) || hdr->rmpp_type == PVB_RMPP_NONE)
		finish(trans, &answer);
	else if (hdr->rmpp_type == PVB_RMPP_STOP || hdr->rmpp_type == PVB_RMPP_ABORT)
		fail(trans, -FI_EIO, now_ms);
	else if (hdr->rmpp_type == PVB_RMPP_DATA && len == PVB_SA_DATA_SIZE)
		table_segment(client, trans, hdr, data, now_ms);
	else if (hdr->rmpp_type == PVB_RMPP_DATA)
		/* The kernel has put it together. */
		finish(trans, &answer);
}

void pvb_sa_forget_reports(struct pvb_sa_client *client)
{
	client->reports = 0;
}

static bool report_is_new(struct pvb_sa_client *client, uint64_t tid, const uint8_t *data)
{
	struct pvb_sa_reported *report;
	unsigned int i;

	for (i = 0; i < PVB_SA_REPORTS && i < client->reports; i++) {
		report = &client->report[i];
		if (report->tid == tid && !memcmp(report->notice, data, PVB_NOTICE_SIZE))
			return false;
	}
	report = &client->report[client->reports++ % PVB_SA_REPORTS];
	report->tid = tid;
	memcpy(report->notice, data, PVB_NOTICE_SIZE);
	return true;
}

/* Answered each time, since the administrator repeats it until it is (13.4.9). */
static void reported(struct pvb_sa_client *client, const struct pvb_sa_hdr *hdr,
		     const uint8_t *data)
{
	struct pvb_sa_hdr response = *hdr;
	struct pvb_notice notice;
	uint8_t mad[PVB_MAD_SIZE];

	response.method |= PVB_SA_RESPONSE;
	response.status = 0;
	pvb_sa_pack(mad, &response);
	memcpy(pvb_sa_data(mad), data, PVB_NOTICE_SIZE);
	client->ops->send(client->arg, mad, 0);
	if (!report_is_new(client, hdr->tid, data))
		client->dropped++;
	else if (!pvb_notice_unpack(data, PVB_NOTICE_SIZE, &notice) &&
		 client->ops->notice)
		client->ops->notice(client->arg, &notice);
}

void pvb_sa_arrived(struct pvb_sa_client *client, const void *mad, size_t len,
		    uint64_t now_ms)
{
	const uint8_t *const data = (const uint8_t *)mad + PVB_SA_DATA_AT;
	struct pvb_sa_transaction *trans;
	struct pvb_sa_hdr hdr;

	if (!client->ops || pvb_sa_unpack(mad, len, &hdr)) {
		client->dropped++;
		return;
	}
	len -= PVB_SA_DATA_AT;
	if (hdr.method == PVB_SA_REPORT && hdr.attr == PVB_SA_NOTICE &&
	    len >= PVB_NOTICE_SIZE) {
		reported(client, &hdr, data);
		return;
	}
	trans = find(client, &hdr);
	if (trans)
		answered(client, trans, &hdr, data, len, now_ms);
	else
		client->dropped++;
}

void pvb_sa_progress(struct pvb_sa_client *client, uint64_t now_ms)
{
	struct pvb_sa_transaction *trans;
	size_t i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++) {
		trans = &client->outstanding[i];
		if (!trans->used || trans->due_ms > now_ms)
			continue;
		if (trans->tries)
			send_try(client, trans, now_ms);
		else
			fail(trans, -FI_ETIMEDOUT, now_ms);
	}
}

int pvb_sa_timeout(const struct pvb_sa_client *client, uint64_t now_ms)
{
	uint64_t first = UINT64_MAX;
	size_t i;

	for (i = 0; i < PVB_SA_OUTSTANDING; i++)
		if (client->outstanding[i].used && client->outstanding[i].due_ms < first)
			first = client->outstanding[i].due_ms;
	if (first == UINT64_MAX)
		return -1;
	if (first <= now_ms)
		return 0;
	return first - now_ms > INT_MAX ? INT_MAX : (int)(first - now_ms);
}
