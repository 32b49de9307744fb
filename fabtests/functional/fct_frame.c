/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control channel as framed messages. A side that fails a case ends it at once; the
 * other side learns it here and stops waiting for what will not come.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fct_frame.h"

#define CTL_MAX_LEN (64u << 10)

struct frame_head {
	uint32_t type;
	uint32_t len;
};

int fct_frame_send(uint32_t type, const char *tag, const void *data, size_t len)
{
	struct frame_head h = {.type = type};
	size_t tag_len = strlen(tag) + 1;
	char *msg;
	size_t total, sent;

	h.len = (uint32_t)(tag_len + len);
	total = sizeof(h) + h.len;
	msg = malloc(total);
	if (!msg)
		return fct_fail("out of memory");
	memcpy(msg, &h, sizeof(h));
	memcpy(msg + sizeof(h), tag, tag_len);
	if (len)
		memcpy(msg + sizeof(h) + tag_len, data, len);
	for (sent = 0; sent < total;) {
		ssize_t n = send(fct.ctl, msg + sent, total - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	free(msg);
	if (sent < total)
		return fct_fail("the other side is gone (control channel: %s)",
				strerror(errno));
	return 0;
}

static int inbox_add(const struct frame_head *h, const char *data)
{
	struct fct_frame **tail = &fct.inbox;
	struct fct_frame *f = malloc(sizeof(*f) + h->len + 1);

	if (!f)
		return -1;
	f->next = NULL;
	f->type = h->type;
	f->len = h->len;
	memcpy(f->data, data, h->len);
	f->data[h->len] = '\0';
	while (*tail)
		tail = &(*tail)->next;
	*tail = f;
	return 0;
}

/* Takes whole frames off the received bytes. */
static int unpack(void)
{
	struct frame_head h;
	size_t used = 0;

	while (fct.partial_len - used >= sizeof(h)) {
		memcpy(&h, fct.partial + used, sizeof(h));
		if (h.type < FCT_FRAME_RUN || h.type > FCT_FRAME_END ||
		    h.len > CTL_MAX_LEN)
			return -1;
		if (fct.partial_len - used - sizeof(h) < h.len)
			break;
		if (inbox_add(&h, fct.partial + used + sizeof(h)))
			return -1;
		used += sizeof(h) + h.len;
	}
	memmove(fct.partial, fct.partial + used, fct.partial_len - used);
	fct.partial_len -= used;
	return 0;
}

void fct_frame_pump(void)
{
	const size_t room = 2 * CTL_MAX_LEN;

	if (fct.ctl < 0 || fct.ctl_eof)
		return;
	if (!fct.partial)
		fct.partial = malloc(room);
	while (fct.partial) {
		ssize_t n = recv(fct.ctl, fct.partial + fct.partial_len,
				 room - fct.partial_len, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			break;
		fct.partial_len += (size_t)n;
		if (unpack())
			break;
	}
	fct.ctl_eof = true;
}

int fct_peer_gone(void)
{
	return fct_fail("the other side ended (its control channel closed)");
}

bool fct_ctl_peer_gave_up(void)
{
	struct fct_frame *f;

	if (fct.ctl < 0)
		return false;
	fct_frame_pump();
	for (f = fct.inbox; f; f = f->next) {
		struct fct_end_body end;

		/* The client goes on, or has ended in order: it may be gone already. */
		if (f->type == FCT_FRAME_RUN)
			return false;
		if (f->type != FCT_FRAME_END)
			continue;
		memcpy(&end, f->data + 1, sizeof(end));
		if (end.result == FCT_PASS)
			return false;
		if (fct.result == FCT_PASS) {
			fct.result = end.result;
			fct.followed = true;
			snprintf(fct.why, sizeof(fct.why), "it waited for %s last",
				 fct_doing_what());
		}
		return true;
	}
	if (fct.ctl_eof) {
		fct_peer_gone();
		return true;
	}
	return false;
}
