/* SPDX-License-Identifier: BSD-2-Clause */
/* The client: reads the file, offers chunks, takes credits. */
#include <errno.h>
#include <unistd.h>

#include "file.h"

struct sender {
	struct file_ring *r;
	uint64_t next;			/* chunk to be offered next */
	uint64_t done;			/* chunks the server has consumed */
	uint32_t busy[FILE_MAX_WINDOW]; /* operations of a slot not completed here yet */
};

static int load(struct sender *s, uint64_t chunk)
{
	struct file_ring *r = s->r;
	uint8_t *buf = file_slot(r, chunk);
	size_t got = 0, len = file_len(r, chunk);

	while (got < len) {
		ssize_t n = read(r->fd, buf + got, len - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fct_fail("cannot read %s: %s", r->path, strerror(errno));
		if (!n)
			return fct_fail("%s became shorter while it was being sent",
					r->path);
		got += (size_t)n;
	}
	EVP_DigestUpdate(r->md, buf, len);
	return 0;
}

static int offer(struct sender *s)
{
	struct file_ring *r = s->r;
	uint32_t slot = (uint32_t)(s->next % r->job.window);
	size_t len = file_len(r, s->next);
	struct file_note *note = (struct file_note *)r->notes.buf + slot;
	struct fct_link *l = &r->l;

	FCT_DO(load(s, s->next));
	if (r->job.mode == FILE_MSG) {
		FCT_POST(l->txcq, fi_send(l->c.ep, file_slot(r, s->next), len,
					  r->data.desc, 0, &r->data_ctx[slot]));
		s->busy[slot]++;
	} else {
		if (r->job.mode == FILE_WRITE) {
			FCT_POST(l->txcq,
				 fi_write(l->c.ep, file_slot(r, s->next), len,
					  r->data.desc, 0,
					  r->remote.addr + (uint64_t)slot * r->job.chunk,
					  r->remote.key, &r->data_ctx[slot]));
			s->busy[slot]++;
		}
		/* FI_ORDER_SAW: the note does not overtake the write. */
		note->seq = s->next;
		note->len = len;
		FCT_POST(l->txcq, fi_send(l->c.ep, note, sizeof(*note), r->notes.desc, 0,
					  &r->note_ctx[slot]));
		s->busy[slot]++;
	}
	s->next++;
	return 0;
}

static int post_credit(struct sender *s, uint32_t slot)
{
	struct file_ring *r = s->r;

	FCT_POST(r->l.rxcq,
		 fi_recv(r->l.c.ep, (struct file_credit *)r->credits.buf + slot,
			 sizeof(struct file_credit), r->credits.desc, 0,
			 &r->credit_ctx[slot]));
	return 0;
}

static int completed(struct sender *s, const struct fi_cq_data_entry *e)
{
	struct file_ring *r = s->r;
	const struct fct_ctx *ctx = e->op_context;
	const struct file_credit *credit;
	uint32_t slot = fct_file_context_slot(r, ctx);

	if (slot == r->job.window)
		return fct_fail("a completion has an unknown context");
	if (ctx != &r->credit_ctx[slot]) {
		s->busy[slot]--;
		return 0;
	}
	credit = (const struct file_credit *)r->credits.buf + slot;
	if (credit->done < s->done || credit->done > s->next)
		return fct_fail("the server acknowledged chunk %llu of %llu sent",
				(unsigned long long)credit->done,
				(unsigned long long)s->next);
	s->done = credit->done;
	return post_credit(s, slot);
}

static bool all_quiet(const struct sender *s)
{
	uint32_t i;

	for (i = 0; i < s->r->job.window; i++)
		if (s->busy[i])
			return false;
	return true;
}

static bool may_offer(const struct sender *s)
{
	const struct file_ring *r = s->r;

	return s->next < r->chunks && s->next - s->done < r->job.window &&
	       !s->busy[s->next % r->job.window];
}

int fct_file_send(struct file_ring *r)
{
	struct sender s = {.r = r};
	struct fi_cq_data_entry e;
	uint32_t i;

	for (i = 0; i < r->job.window; i++)
		FCT_DO(post_credit(&s, i));
	FCT_DO(fct_barrier("ready"));
	r->start_ns = fct_now_ns();
	while (s.done < r->chunks || !all_quiet(&s)) {
		if (may_offer(&s)) {
			FCT_DO(offer(&s));
			continue;
		}
		FCT_DO(fct_comp_any(r->l.txcq, &e, "a chunk to be taken by the server"));
		FCT_DO(completed(&s, &e));
		fct_file_progress(r, s.done);
	}
	return 0;
}
