/* SPDX-License-Identifier: BSD-2-Clause */
/* The server: takes chunks in order, hashes and stores them, returns credits. */
#include <errno.h>
#include <unistd.h>

#include "file.h"

struct receiver {
	struct file_ring *r;
	uint64_t noted;		    /* chunks announced (or, with FI_MSG, arrived) */
	uint64_t done;		    /* chunks consumed, in order */
	uint64_t told;		    /* of which the client knows */
	bool here[FILE_MAX_WINDOW]; /* the slot's chunk is complete in memory */
	uint32_t credits_busy;
	uint64_t credit_next;
};

static int post_recv(struct receiver *c, uint32_t slot)
{
	struct file_ring *r = c->r;
	struct fct_link *l = &r->l;
	struct fct *t = l->t;
	int ret;

	if (r->job.mode == FILE_MSG)
		FCT_POST(t, l->rxcq,
			 fi_recv(l->c.ep, r->data.buf + (size_t)slot * r->job.chunk,
				 r->job.chunk, r->data.desc, 0, &r->data_ctx[slot]));
	else
		FCT_POST(t, l->rxcq,
			 fi_recv(l->c.ep, (struct file_note *)r->notes.buf + slot,
				 sizeof(struct file_note), r->notes.desc, 0,
				 &r->note_ctx[slot]));
out:
	return ret;
}

static int noted(struct receiver *c, uint32_t slot)
{
	struct file_ring *r = c->r;
	const struct file_note *note = (const struct file_note *)r->notes.buf + slot;
	struct fct_link *l = &r->l;
	struct fct *t = l->t;
	uint64_t chunk = c->noted;
	int ret = 0;

	FCT_EQ(t, slot, chunk % r->job.window);
	FCT_EQ(t, note->seq, chunk);
	FCT_EQ(t, note->len, file_len(r, chunk));
	c->noted++;
	if (r->job.mode == FILE_READ)
		FCT_POST(t, l->txcq,
			 fi_read(l->c.ep, file_slot(r, chunk), note->len, r->data.desc, 0,
				 r->remote.addr + (uint64_t)slot * r->job.chunk,
				 r->remote.key, &r->data_ctx[slot]));
	else
		c->here[slot] = true;
	FCT_DO(post_recv(c, slot));
out:
	return ret;
}

static int completed(struct receiver *c, const struct fi_cq_data_entry *e)
{
	struct file_ring *r = c->r;
	const struct fct_ctx *ctx = e->op_context;
	uint32_t slot = fct_file_context_slot(r, ctx);
	struct fct *t = r->l.t;
	int ret = 0;

	FCT_TRUE(t, slot < r->job.window);
	if (ctx == &r->credit_ctx[slot]) {
		c->credits_busy--;
	} else if (ctx == &r->note_ctx[slot]) {
		FCT_EQ(t, e->len, sizeof(struct file_note));
		ret = noted(c, slot);
	} else {
		if (r->job.mode == FILE_MSG) {
			FCT_EQ(t, slot, c->noted % r->job.window);
			FCT_EQ(t, e->len, file_len(r, c->noted));
			c->noted++;
		}
		c->here[slot] = true;
	}
out:
	return ret;
}

static int store(struct file_ring *r, const uint8_t *buf, size_t len)
{
	size_t put = 0;

	while (r->fd >= 0 && put < len) {
		ssize_t n = write(r->fd, buf + put, len - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fct_fail_at(r->l.t, NULL, 0, "cannot write %s: %s",
					   r->path, strerror(errno));
		put += (size_t)n;
	}
	EVP_DigestUpdate(r->md, buf, len);
	return 0;
}

/* Consumes what is there in order and gives the slots back. */
static int consume(struct receiver *c)
{
	struct file_ring *r = c->r;
	uint32_t slot = (uint32_t)(c->done % r->job.window);
	int ret = 0;

	while (c->done < c->noted && c->here[slot]) {
		FCT_DO(store(r, file_slot(r, c->done), file_len(r, c->done)));
		c->here[slot] = false;
		if (r->job.mode == FILE_MSG)
			FCT_DO(post_recv(c, slot));
		c->done++;
		slot = (uint32_t)(c->done % r->job.window);
		fct_file_progress(r, c->done);
	}
out:
	return ret;
}

/* Half a window at a time, and whenever the client may have nothing more to offer. */
static int give_credits(struct receiver *c)
{
	struct file_ring *r = c->r;
	struct fct *t = r->l.t;
	struct file_credit *credit;
	uint32_t slot;
	int ret = 0;

	if (c->done - c->told < (r->job.window + 1) / 2 &&
	    (c->done < r->chunks || c->told == c->done))
		return 0;
	if (c->credits_busy == r->job.window)
		return 0;
	slot = (uint32_t)(c->credit_next++ % r->job.window);
	credit = (struct file_credit *)r->credits.buf + slot;
	credit->done = c->done;
	FCT_POST(t, r->l.txcq,
		 fi_send(r->l.c.ep, credit, sizeof(*credit), r->credits.desc, 0,
			 &r->credit_ctx[slot]));
	c->credits_busy++;
	c->told = c->done;
out:
	return ret;
}

int fct_file_receive(struct file_ring *r)
{
	struct receiver c = {.r = r};
	struct fi_cq_data_entry e;
	struct fct *t = r->l.t;
	uint32_t i;
	int ret;

	for (i = 0; i < r->job.window; i++)
		FCT_DO(post_recv(&c, i));
	FCT_DO(fct_barrier(t, "ready"));
	r->start_ns = fct_now_ns();
	while (c.told < r->chunks || c.credits_busy) {
		FCT_DO(fct_comp_any(t, r->l.rxcq, &e, "the next chunk from the client"));
		FCT_DO(completed(&c, &e));
		FCT_DO(consume(&c));
		FCT_DO(give_credits(&c));
	}
	ret = 0;
out:
	return ret;
}
