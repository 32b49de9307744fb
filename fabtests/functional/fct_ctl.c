/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The control channel: framed messages between the two sides, in order. A side that fails
 * a case ends it at once; the other side learns it here and stops waiting for what will
 * not come.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fct.h"

#define CTL_MAX_LEN (64u << 10)

enum frame_type { FRAME_RUN = 0x66637401, FRAME_SYNC, FRAME_END };

struct frame_head {
	uint32_t type;
	uint32_t len;
};

struct fct_frame {
	struct fct_frame *next;
	uint32_t type;
	uint32_t len;
	char data[];
};

/* Payload of FRAME_END; the reason follows. */
struct end_body {
	uint32_t result;
	uint32_t followed;
};

static int ctl_send(struct fct *t, uint32_t type, const char *tag, const void *data,
		    size_t len)
{
	struct frame_head h = {.type = type};
	size_t tag_len = strlen(tag) + 1;
	char *msg;
	size_t total, sent;

	h.len = (uint32_t)(tag_len + len);
	total = sizeof(h) + h.len;
	msg = malloc(total);
	if (!msg)
		return fct_fail_at(t, NULL, 0, "out of memory");
	memcpy(msg, &h, sizeof(h));
	memcpy(msg + sizeof(h), tag, tag_len);
	if (len)
		memcpy(msg + sizeof(h) + tag_len, data, len);
	for (sent = 0; sent < total;) {
		ssize_t n = send(t->ctl, msg + sent, total - sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	free(msg);
	if (sent < total)
		return fct_fail_at(t, NULL, 0,
				   "the other side is gone (control channel: %s)",
				   strerror(errno));
	return 0;
}

static int inbox_add(struct fct *t, const struct frame_head *h, const char *data)
{
	struct fct_frame **tail = &t->inbox;
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
static int unpack(struct fct *t)
{
	struct frame_head h;
	size_t used = 0;

	while (t->partial_len - used >= sizeof(h)) {
		memcpy(&h, t->partial + used, sizeof(h));
		if (h.type < FRAME_RUN || h.type > FRAME_END || h.len > CTL_MAX_LEN)
			return -1;
		if (t->partial_len - used - sizeof(h) < h.len)
			break;
		if (inbox_add(t, &h, t->partial + used + sizeof(h)))
			return -1;
		used += sizeof(h) + h.len;
	}
	memmove(t->partial, t->partial + used, t->partial_len - used);
	t->partial_len -= used;
	return 0;
}

/* Reads what has arrived, without blocking. */
static void pump(struct fct *t)
{
	const size_t room = 2 * CTL_MAX_LEN;

	if (t->ctl < 0 || t->ctl_eof)
		return;
	if (!t->partial)
		t->partial = malloc(room);
	while (t->partial) {
		ssize_t n = recv(t->ctl, t->partial + t->partial_len,
				 room - t->partial_len, MSG_DONTWAIT);

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			break;
		t->partial_len += (size_t)n;
		if (unpack(t))
			break;
	}
	t->ctl_eof = true;
}

static int peer_gone(struct fct *t)
{
	return fct_fail_at(t, NULL, 0,
			   "the other side ended (its control channel closed)");
}

bool fct_ctl_peer_gave_up(struct fct *t)
{
	struct fct_frame *f;

	if (t->ctl < 0)
		return false;
	pump(t);
	for (f = t->inbox; f; f = f->next) {
		struct end_body end;

		/* The client goes on, or has ended in order: it may be gone already. */
		if (f->type == FRAME_RUN)
			return false;
		if (f->type != FRAME_END)
			continue;
		memcpy(&end, f->data + 1, sizeof(end));
		if (end.result == FCT_PASS)
			return false;
		if (t->result == FCT_PASS) {
			t->result = end.result;
			t->followed = true;
			snprintf(t->why, sizeof(t->why), "the other side stopped");
		}
		return true;
	}
	if (t->ctl_eof) {
		peer_gone(t);
		return true;
	}
	return false;
}

/* Waits for the next frame and takes it off the inbox. NULL: recorded. */
static struct fct_frame *next_frame(struct fct *t, uint32_t type, const char *what,
				    bool forever)
{
	struct fct_frame *f;
	struct fct_wait w;

	fct_wait_init(&w, t, what);
	if (forever)
		w.end_ms = UINT64_MAX;
	for (;;) {
		pump(t);
		f = t->inbox;
		if (f && (f->type == type || f->type == FRAME_END))
			break;
		if (f) {
			fct_fail_at(t, NULL, 0,
				    "control channel out of step: waiting for %s", what);
			return NULL;
		}
		if (t->ctl_eof) {
			peer_gone(t);
			return NULL;
		}
		fct_progress(t);
		if (fct_wait_again(&w))
			return NULL;
	}
	if (f->type != type) {
		if (!fct_ctl_peer_gave_up(t))
			fct_fail_at(t, NULL, 0, "the other side ended the case before %s",
				    what);
		return NULL;
	}
	t->inbox = f->next;
	return f;
}

static int hear(struct fct *t, const char *tag, void *data, size_t len)
{
	struct fct_frame *f = next_frame(t, FRAME_SYNC, tag, false);
	size_t tag_len = strlen(tag) + 1;
	int ret = 0;

	if (!f)
		return -1;
	if (strcmp(f->data, tag) || f->len != tag_len + len)
		ret = fct_fail_at(t, NULL, 0,
				  "control channel out of step: here '%s', there '%s'",
				  tag, f->data);
	else if (len)
		memcpy(data, f->data + tag_len, len);
	free(f);
	return ret;
}

int fct_tell(struct fct *t, const char *tag, const void *mine, size_t len)
{
	return ctl_send(t, FRAME_SYNC, tag, mine, len);
}

int fct_hear(struct fct *t, const char *tag, void *theirs, size_t len)
{
	return hear(t, tag, theirs, len);
}

int fct_exchange(struct fct *t, const char *tag, const void *mine, void *theirs,
		 size_t len)
{
	if (ctl_send(t, FRAME_SYNC, tag, mine, len))
		return -1;
	return hear(t, tag, theirs, len);
}

int fct_barrier(struct fct *t, const char *tag)
{
	return fct_exchange(t, tag, NULL, NULL, 0);
}

int fct_ctl_run(struct fct *t, const char *name)
{
	return ctl_send(t, FRAME_RUN, name, NULL, 0);
}

int fct_ctl_next(struct fct *t, char *name, size_t len)
{
	struct fct_frame *f = next_frame(t, FRAME_RUN, "the client's next case", true);
	int more;

	if (!f)
		return -1;
	snprintf(name, len, "%s", f->data);
	more = f->data[0] != '\0';
	free(f);
	return more;
}

int fct_ctl_end(struct fct *t, enum fct_result *peer, char *why, size_t len,
		bool *followed)
{
	char body[sizeof(struct end_body) + FCT_WHY_LEN];
	struct end_body end = {.result = t->result, .followed = t->followed};
	struct pollfd pfd = {.fd = t->ctl, .events = POLLIN};
	struct fct_frame *f;

	memcpy(body, &end, sizeof(end));
	snprintf(body + sizeof(end), FCT_WHY_LEN, "%s",
		 t->result == FCT_PASS ? "" : t->why);
	ctl_send(t, FRAME_END, "", body, sizeof(end) + strlen(body + sizeof(end)));

	/* The other side's waits have deadlines; the run's deadline bounds this one. */
	fct_doing(t, "the other side's result");
	for (;;) {
		pump(t);
		/* What this side did not hear of the case is stale now. */
		while ((f = t->inbox) && f->type != FRAME_END) {
			t->inbox = f->next;
			free(f);
		}
		if (f)
			break;
		if (t->ctl_eof)
			return peer_gone(t);
		poll(&pfd, 1, -1);
	}
	t->inbox = f->next;
	memcpy(&end, f->data + 1, sizeof(end));
	*peer = end.result;
	*followed = end.followed;
	snprintf(why, len, "%s", f->data + 1 + sizeof(end));
	free(f);
	return 0;
}

int fct_ctl_listen(const char *port)
{
	struct addrinfo hints = {.ai_family = AF_INET6,
				 .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_PASSIVE};
	struct addrinfo *ai;
	int fd, ret, one = 1, zero = 0;

	ret = getaddrinfo(NULL, port, &hints, &ai);
	if (ret) {
		fprintf(stderr, "control port %s: %s\n", port, gai_strerror(ret));
		return -1;
	}
	fd = socket(ai->ai_family, SOCK_STREAM, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
	}
	if (fd < 0 || bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 1)) {
		fprintf(stderr, "cannot listen on control port %s: %s\n", port,
			strerror(errno));
		if (fd >= 0)
			close(fd);
		fd = -1;
	}
	freeaddrinfo(ai);
	return fd;
}

int fct_ctl_accept(struct fct *t, int listener)
{
	int one = 1;

	fct_doing(t, "a client on the control port");
	do {
		t->ctl = accept(listener, NULL, NULL);
	} while (t->ctl < 0 && errno == EINTR);
	if (t->ctl < 0) {
		fprintf(stderr, "control channel: %s\n", strerror(errno));
		return -1;
	}
	setsockopt(t->ctl, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

/*
 * The address the client reached this host at is the best guess where to listen on the
 * fabric.
 */
void fct_ctl_local_address(struct fct *t, char *text, size_t len)
{
	struct sockaddr_storage addr;
	socklen_t addr_len = sizeof(addr);
	const char *p;
	char host[NI_MAXHOST];

	text[0] = '\0';
	if (getsockname(t->ctl, (struct sockaddr *)&addr, &addr_len) ||
	    getnameinfo((struct sockaddr *)&addr, addr_len, host, sizeof(host), NULL, 0,
			NI_NUMERICHOST))
		return;
	p = !strncmp(host, "::ffff:", 7) && strchr(host, '.') ? host + 7 : host;
	snprintf(text, len, "%s", p);
}

int fct_ctl_connect(struct fct *t, const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list, *ai;
	int ret, one = 1, err = 0;

	ret = getaddrinfo(host, port, &hints, &list);
	if (ret) {
		fprintf(stderr, "%s port %s: %s\n", host, port, gai_strerror(ret));
		return -1;
	}
	for (ai = list; ai && t->ctl < 0; ai = ai->ai_next) {
		int fd = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);

		if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen)) {
			err = errno;
			if (fd >= 0)
				close(fd);
			continue;
		}
		t->ctl = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
	freeaddrinfo(list);
	if (t->ctl < 0)
		fprintf(stderr,
			"cannot reach the server's control port %s on %s: %s "
			"(is the server side of this program running there?)\n",
			port, host, strerror(err));
	return t->ctl < 0 ? -1 : 0;
}

void fct_ctl_close(struct fct *t)
{
	struct fct_frame *f;

	while ((f = t->inbox)) {
		t->inbox = f->next;
		free(f);
	}
	free(t->partial);
	t->partial = NULL;
	if (t->ctl >= 0)
		close(t->ctl);
	t->ctl = -1;
}
