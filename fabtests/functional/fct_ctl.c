/* SPDX-License-Identifier: BSD-2-Clause */
/* The control channel: what the two sides tell each other between and during cases. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fct_frame.h"

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
		fct_frame_pump(t);
		f = t->inbox;
		if (f && (f->type == type || f->type == FCT_FRAME_END))
			break;
		if (f) {
			fct_fail_at(t, NULL, 0,
				    "control channel out of step: waiting for %s", what);
			return NULL;
		}
		if (t->ctl_eof) {
			fct_peer_gone(t);
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
	struct fct_frame *f = next_frame(t, FCT_FRAME_SYNC, tag, false);
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
	return fct_frame_send(t, FCT_FRAME_SYNC, tag, mine, len);
}

int fct_hear(struct fct *t, const char *tag, void *theirs, size_t len)
{
	return hear(t, tag, theirs, len);
}

int fct_exchange(struct fct *t, const char *tag, const void *mine, void *theirs,
		 size_t len)
{
	if (fct_frame_send(t, FCT_FRAME_SYNC, tag, mine, len))
		return -1;
	return hear(t, tag, theirs, len);
}

int fct_barrier(struct fct *t, const char *tag)
{
	return fct_exchange(t, tag, NULL, NULL, 0);
}

int fct_ctl_run(struct fct *t, const char *name)
{
	return fct_frame_send(t, FCT_FRAME_RUN, name, NULL, 0);
}

int fct_ctl_next(struct fct *t, char *name, size_t len)
{
	struct fct_frame *f =
		next_frame(t, FCT_FRAME_RUN, "the client's next case", true);
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
	char body[sizeof(struct fct_end_body) + FCT_WHY_LEN];
	struct fct_end_body end = {.result = t->result, .followed = t->followed};
	struct pollfd pfd = {.fd = t->ctl, .events = POLLIN};
	struct fct_frame *f;

	memcpy(body, &end, sizeof(end));
	snprintf(body + sizeof(end), FCT_WHY_LEN, "%s",
		 t->result == FCT_PASS ? "" : t->why);
	fct_frame_send(t, FCT_FRAME_END, "", body,
		       sizeof(end) + strlen(body + sizeof(end)));

	/* The other side's waits have deadlines; the run's deadline bounds this one. */
	fct_doing(t, "the other side's result");
	for (;;) {
		fct_frame_pump(t);
		/* What this side did not hear of the case is stale now. */
		while ((f = t->inbox) && f->type != FCT_FRAME_END) {
			t->inbox = f->next;
			free(f);
		}
		if (f)
			break;
		if (t->ctl_eof)
			return fct_peer_gone(t);
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
