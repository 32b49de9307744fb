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
static struct fct_frame *next_frame(uint32_t type, const char *what, bool forever)
{
	struct fct_frame *f;
	struct fct_wait w;

	fct_wait_init(&w, what);
	if (forever)
		w.end_ms = UINT64_MAX;
	for (;;) {
		fct_frame_pump();
		f = fct.inbox;
		if (f && (f->type == type || f->type == FCT_FRAME_END))
			break;
		if (f) {
			fct_fail("control channel out of step: waiting for %s", what);
			return NULL;
		}
		if (fct.ctl_eof) {
			fct_peer_gone();
			return NULL;
		}
		fct_progress();
		if (fct_wait_again(&w))
			return NULL;
	}
	if (f->type != type) {
		if (!fct_ctl_peer_gave_up())
			fct_fail("the other side ended the case before %s", what);
		return NULL;
	}
	fct.inbox = f->next;
	return f;
}

static int hear(const char *tag, void *data, size_t len)
{
	struct fct_frame *f = next_frame(FCT_FRAME_SYNC, tag, false);
	size_t tag_len = strlen(tag) + 1;
	int ret = 0;

	if (!f)
		return -1;
	if (strcmp(f->data, tag) || f->len != tag_len + len)
		ret = fct_fail("control channel out of step: here '%s', there '%s'", tag,
			       f->data);
	else if (len)
		memcpy(data, f->data + tag_len, len);
	free(f);
	return ret;
}

int fct_tell(const char *tag, const void *mine, size_t len)
{
	return fct_frame_send(FCT_FRAME_SYNC, tag, mine, len);
}

int fct_hear(const char *tag, void *theirs, size_t len)
{
	return hear(tag, theirs, len);
}

int fct_exchange(const char *tag, const void *mine, void *theirs, size_t len)
{
	if (fct_frame_send(FCT_FRAME_SYNC, tag, mine, len))
		return -1;
	return hear(tag, theirs, len);
}

int fct_barrier(const char *tag)
{
	return fct_exchange(tag, NULL, NULL, 0);
}

int fct_ctl_run(const char *name)
{
	return fct_frame_send(FCT_FRAME_RUN, name, NULL, 0);
}

int fct_ctl_next(char *name, size_t len)
{
	struct fct_frame *f = next_frame(FCT_FRAME_RUN, "the client's next case", true);
	int more;

	if (!f)
		return -1;
	snprintf(name, len, "%s", f->data);
	more = f->data[0] != '\0';
	free(f);
	return more;
}

int fct_ctl_end(enum fct_result *peer, char *why, size_t len, bool *followed)
{
	char body[sizeof(struct fct_end_body) + FCT_WHY_LEN];
	struct fct_end_body end = {.result = fct.result, .followed = fct.followed};
	struct pollfd pfd = {.fd = fct.ctl, .events = POLLIN};
	struct fct_frame *f;

	memcpy(body, &end, sizeof(end));
	snprintf(body + sizeof(end), FCT_WHY_LEN, "%s",
		 fct.result == FCT_PASS ? "" : fct.why);
	fct_frame_send(FCT_FRAME_END, "", body, sizeof(end) + strlen(body + sizeof(end)));

	/* The other side's waits have deadlines; the run's deadline bounds this one. */
	fct_doing("the other side's result");
	for (;;) {
		fct_frame_pump();
		/* What this side did not hear of the case is stale now. */
		while ((f = fct.inbox) && f->type != FCT_FRAME_END) {
			fct.inbox = f->next;
			free(f);
		}
		if (f)
			break;
		if (fct.ctl_eof)
			return fct_peer_gone();
		poll(&pfd, 1, -1);
	}
	fct.inbox = f->next;
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

int fct_ctl_accept(int listener)
{
	int one = 1;

	fct_doing("a client on the control port");
	do {
		fct.ctl = accept(listener, NULL, NULL);
	} while (fct.ctl < 0 && errno == EINTR);
	if (fct.ctl < 0) {
		fprintf(stderr, "control channel: %s\n", strerror(errno));
		return -1;
	}
	setsockopt(fct.ctl, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return 0;
}

/*
 * The address the client reached this host at is the best guess where to listen on the
 * fabric.
 */
void fct_ctl_local_address(char *text, size_t len)
{
	struct sockaddr_storage addr;
	socklen_t addr_len = sizeof(addr);
	const char *p;
	char host[NI_MAXHOST];

	text[0] = '\0';
	if (getsockname(fct.ctl, (struct sockaddr *)&addr, &addr_len) ||
	    getnameinfo((struct sockaddr *)&addr, addr_len, host, sizeof(host), NULL, 0,
			NI_NUMERICHOST))
		return;
	p = !strncmp(host, "::ffff:", 7) && strchr(host, '.') ? host + 7 : host;
	snprintf(text, len, "%s", p);
}

int fct_ctl_connect(const char *host, const char *port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *list, *ai;
	int ret, one = 1, err = 0;

	ret = getaddrinfo(host, port, &hints, &list);
	if (ret) {
		fprintf(stderr, "%s port %s: %s\n", host, port, gai_strerror(ret));
		return -1;
	}
	for (ai = list; ai && fct.ctl < 0; ai = ai->ai_next) {
		int fd = socket(ai->ai_family, ai->ai_socktype, ai->ai_protocol);

		if (fd < 0 || connect(fd, ai->ai_addr, ai->ai_addrlen)) {
			err = errno;
			if (fd >= 0)
				close(fd);
			continue;
		}
		fct.ctl = fd;
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	}
	freeaddrinfo(list);
	if (fct.ctl < 0)
		fprintf(stderr,
			"cannot reach the server's control port %s on %s: %s "
			"(is the server side of this program running there?)\n",
			port, host, strerror(err));
	return fct.ctl < 0 ? -1 : 0;
}

void fct_ctl_close(void)
{
	struct fct_frame *f;

	while ((f = fct.inbox)) {
		fct.inbox = f->next;
		free(f);
	}
	free(fct.partial);
	fct.partial = NULL;
	fct.partial_len = 0;
	if (fct.ctl >= 0)
		close(fct.ctl);
	fct.ctl = -1;
}
