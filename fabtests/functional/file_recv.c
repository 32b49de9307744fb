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

	if (r->job.mode == FILE_MSG)
		FCT_POST(l->rxcq,
			 fi_recv(l->c.ep, r->data.buf + (size_t)slot * r->job.chunk,
				 r->job.chunk, r->data.desc, 0, &r->data_ctx[slot]));
	else
		FCT_POST(l->rxcq,
			 fi_recv(l->c.ep, (struct file_note *)r->notes.buf + slot,
				 sizeof(struct file_note), r->notes.desc, 0,
				 &r->note_ctx[slot]));
	return 0;
}

static int noted(struct receiver *c, uint32_t slot)
{
	struct file_ring *r = c->r;
	const struct file_note *note = (const struct file_note *)r->notes.buf + slot;
	struct fct_link *l = &r->l;
	uint64_t chunk = c->noted;

	FCT_EQ(slot, chunk % r->job.window);
	FCT_EQ(note->seq, chunk);
	FCT_EQ(note->len, file_len(r, chunk));
	c->noted++;
	if (r->job.mode == FILE_READ)
		FCT_POST(l->txcq,
			 fi_read(l->c.ep, file_slot(r, chunk), note->len, r->data.desc, 0,
				 r->remote.addr + (uint64_t)slot * r->job.chunk,
				 r->remote.key, &r->data_ctx[slot]));
	else
		c->here[slot] = true;
	FCT_DO(post_recv(c, slot));
	return 0;
}

static int completed(struct receiver *c, const struct fi_cq_data_entry *e)
{
	struct file_ring *r = c->r;
	const struct fct_ctx *ctx = e->op_context;
	uint32_t slot = fct_file_context_slot(r, ctx);

	FCT_TRUE(slot < r->job.window);
	if (ctx == &r->credit_ctx[slot]) {
		c->credits_busy--;
	} else if (ctx == &r->note_ctx[slot]) {
		FCT_EQ(e->len, sizeof(struct file_note));
		FCT_DO(noted(c, slot));
	} else {
		if (r->job.mode == FILE_MSG) {
			FCT_EQ(slot, c->noted % r->job.window);
			FCT_EQ(e->len, file_len(r, c->noted));
			c->noted++;
		}
		c->here[slot] = true;
	}
	return 0;
}

static int store(struct file_ring *r, const uint8_t *buf, size_t len)
{
	size_t put = 0;

	while (r->fd >= 0 && put < len) {
		ssize_t n = write(r->fd, buf + put, len - put);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fct_fail("cannot write %s: %s", r->path, strerror(errno));
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

	while (c->done < c->noted && c->here[slot]) {
		FCT_DO(store(r, file_slot(r, c->done), file_len(r, c->done)));
		c->here[slot] = false;
		if (r->job.mode == FILE_MSG)
			FCT_DO(post_recv(c, slot));
		c->done++;
		slot = (uint32_t)(c->done % r->job.window);
		fct_file_progress(r, c->done);
	}
	return 0;
}

/* Half a window at a time, and whenever the client may have nothing more to offer. */
static int give_credits(struct receiver *c)
{
	struct file_ring *r = c->r;
	struct file_credit *credit;
	uint32_t slot;

	if (c->done - c->told < (r->job.window + 1) / 2 &&
	    (c->done < r->chunks || c->told == c->done))
		return 0;
	if (c->credits_busy == r->job.window)
		return 0;
	slot = (uint32_t)(c->credit_next++ % r->job.window);
	credit = (struct file_credit *)r->credits.buf + slot;
	credit->done = c->done;
	FCT_POST(r->l.txcq, fi_send(r->l.c.ep, credit, sizeof(*credit), r->credits.desc,
				    0, &r->credit_ctx[slot]));
	c->credits_busy++;
	c->told = c->done;
	return 0;
}

int fct_file_receive(struct file_ring *r)
{
	struct receiver c = {.r = r};
	struct fi_cq_data_entry e;
	uint32_t i;

	for (i = 0; i < r->job.window; i++)
		FCT_DO(post_recv(&c, i));
	FCT_DO(fct_barrier("ready"));
	r->start_ns = fct_now_ns();
	while (c.told < r->chunks || c.credits_busy) {
		FCT_DO(fct_comp_any(r->l.rxcq, &e, "the next chunk from the client"));
		FCT_DO(completed(&c, &e));
		FCT_DO(consume(&c));
		FCT_DO(give_credits(&c));
	}
	return 0;
}
