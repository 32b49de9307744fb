/* SPDX-License-Identifier: BSD-2-Clause */
/* What completes on a connection, and what does not. */
#include <string.h>

#include "end.h"

#define BATCH 16
#define LOOKS 1024u  /* turns without a look at all but the completion queue */
#define SLEEP_MS 100 /* between two of them, where turns sleep */
#define NS_OF_S 1000000000u

static int received(struct png_end *end, struct png_receive *receive, size_t len,
		    uint64_t now)
{
	uint32_t xid;
	bool call;
	int ret;

	if (!rpm_peek(receive->bytes, len, &xid, &call))
		return lnk_fail(&end->link, -FI_EIO, "%s: a message that is none of RPC",
				end->link.peer);
	if (call)
		return png_answer(end, receive, len);
	ret = png_reply(end, receive->bytes, len, now);
	return ret ? ret : png_receive(end, receive);
}

static int completed(struct png_end *end, const struct fi_cq_data_entry *entry,
		     uint64_t now)
{
	struct png_mark *mark = entry->op_context;
	struct png_call *call = mark->of;

	switch (mark->use) {
	case PNG_RECEIVED:
		return received(end, mark->of, entry->len, now);
	case PNG_REPLIED:
		return png_receive(end, mark->of);
	case PNG_CALLED:
		call->sending = false;
		break;
	case PNG_RESULT:
		call->result_posted = false;
		call->written = entry->len;
		break;
	}
	png_call_settle(end, call);
	return 0;
}

static int completed_badly(struct png_end *end)
{
	struct fi_cq_err_entry error = {0};

	if (fi_cq_readerr(end->link.cq, &error, 0) < 1)
		return lnk_failed(&end->link, "fi_cq_readerr", -FI_EOTHER);
	if (error.err == FI_EREMOTEIO)
		return lnk_fail(&end->link, -FI_EREMOTEIO,
				"%s cannot take a Call apart: RDMA_ERROR",
				end->link.peer);
	if (error.err == FI_ECANCELED || error.err == FI_ESHUTDOWN)
		return lnk_fail(&end->link, -FI_ESHUTDOWN, "%s ended the connection",
				end->link.peer);
	return lnk_fail(&end->link, -error.err, "an operation failed: %s",
			fi_strerror(error.err));
}

/* Is a Reply, or anything at all, overdue? */
static int overdue(struct png_end *end)
{
	const uint64_t most = (uint64_t)end->options->timeout * NS_OF_S;
	const uint64_t now = lnk_now();
	uint32_t i;

	for (i = 0; end->call && i <= end->plan.depth; i++)
		if (!end->call[i].answered && now - end->call[i].began > most)
			return lnk_fail(&end->link, -FI_ETIMEDOUT,
					"no answer of %s in %d s", end->link.peer,
					end->options->timeout);
	if (now - end->moved > most)
		return lnk_fail(&end->link, -FI_ETIMEDOUT, "nothing of %s in %d s",
				end->link.peer, end->options->timeout);
	return 0;
}

/* A server has one client at a time. */
static int events(struct png_end *end)
{
	struct fi_eq_cm_entry entry;
	const int ret = lnk_event(&end->link, FI_CONNREQ, 0, &entry);

	if (ret)
		return ret == -FI_EAGAIN ? 0 : ret;
	lnk_reject(&end->link, entry.info);
	return 0;
}

static int look_around(struct png_end *end)
{
	int ret;

	lnk_rpc_show(&end->link);
	ret = overdue(end);
	return ret ? ret : events(end);
}

static int send_due(struct png_end *end)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; !ret && end->due && i < end->receive_count; i++)
		if (end->receives[i].due)
			ret = png_answer_send(end, &end->receives[i]);
	return ret;
}

static ssize_t read_queue(struct png_end *end, struct fi_cq_data_entry *entries)
{
	if (end->options->events && !end->due)
		return fi_cq_sread(end->link.cq, entries, BATCH, NULL, SLEEP_MS);
	return fi_cq_read(end->link.cq, entries, BATCH);
}

int png_turn(struct png_end *end)
{
	struct fi_cq_data_entry entries[BATCH];
	ssize_t i, got;
	int ret;

	ret = end->due ? send_due(end) : 0;
	if (ret)
		return ret;
	got = read_queue(end, entries);
	if (got == -FI_EAVAIL)
		return completed_badly(end);
	if (got < 0 && got != -FI_EAGAIN && got != -FI_EINTR && got != -FI_ETIMEDOUT)
		return lnk_failed(&end->link, "fi_cq_read", got);
	if (got > 0)
		end->moved = lnk_now();
	for (i = 0; !ret && i < got; i++)
		ret = completed(end, &entries[i], end->moved);
	if (!ret && (++end->turns % LOOKS == 0 || (got <= 0 && end->options->events)))
		ret = look_around(end);
	return ret;
}
