/* SPDX-License-Identifier: BSD-2-Clause */
/* Who has connected, what they ask, and their answers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cairn/compat.h>
#include <cairn/wait.h>

#include "drain.h"
#include "inside.h"
#include "log.h"
#include "transit/transit.h"

/* That are looked at before the loop goes on. */
#define EVENTS 64u

struct asker {
	struct crn_list entry; /* of control->askers */
	struct frt_control *control;
	int fd;
	struct crn_deadline deadline;
	char request[FRT_REQUEST_MAX];
	size_t got;
	bool asked; /* the request is there */
	/* One of these until the answer is there. */
	json_t *document; /* that is added to, from route number next on */
	uint32_t next;
	struct frt_probe *probe;
	char *answer; /* NULL: it is not there yet */
	size_t len, sent;
};

struct frt_control {
	struct frt_node *node;
	struct frt_control_file file;
	char *path;
	int epfd; /* of the socket and of askers */
	struct crn_list askers;
	uint32_t count;
	uint32_t documents; /* that are added to */
};

static void asker_free(struct asker *asker)
{
	struct frt_control *control = asker->control;

	crn_deadline_remove(&control->node->deadlines, &asker->deadline);
	frt_probe_cancel(asker->probe);
	if (asker->document)
		control->documents--;
	json_decref(asker->document);
	free(asker->answer);
	close(asker->fd);
	crn_list_del(&asker->entry);
	control->count--;
	free(asker);
}

static void expired(struct crn_deadline *deadline)
{
	asker_free(crn_container_of(deadline, struct asker, deadline));
}

static void asker_deadline(struct asker *asker, uint64_t ms)
{
	asker->deadline.expired = expired;
	crn_deadline_add(&asker->control->node->deadlines, &asker->deadline,
			 crn_now_ms() + ms);
}

/* --- The answer --- */

/* False: it has been freed. */
static bool send_answer(struct asker *asker)
{
	ssize_t ret = 0;

	while (asker->sent < asker->len && ret >= 0) {
		ret = send(asker->fd, asker->answer + asker->sent,
			   asker->len - asker->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret > 0)
			asker->sent += (size_t)ret;
	}
	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	asker_free(asker);
	return false;
}

/* The document, which is taken over; NULL: there was no memory for it. */
static bool answer(struct asker *asker, json_t *document)
{
	struct epoll_event event = {.events = EPOLLOUT, .data.ptr = asker};

	asker->answer = document ? json_dumps(document, JSON_COMPACT) : NULL;
	json_decref(document);
	if (!asker->answer)
		asker->answer = strdup("{\"error\": \"no memory\"}");
	if (!asker->answer ||
	    epoll_ctl(asker->control->epfd, EPOLL_CTL_MOD, asker->fd, &event)) {
		asker_free(asker);
		return false;
	}
	asker->len = strlen(asker->answer);
	asker_deadline(asker, FRT_CONTROL_MS);
	return send_answer(asker);
}

static bool answer_error(struct asker *asker, const char *why)
{
	return answer(asker, json_pack("{s:s}", "error", why));
}

/* --- What is asked --- */

static json_t *show(const struct frt_node *node, enum frt_show what)
{
	switch (what) {
	case FRT_TOPOLOGY:
		return frt_show_topology(node);
	case FRT_CONNECTIONS:
		return frt_show_connections(node);
	case FRT_COUNTERS:
		return frt_show_counters(node);
	case FRT_ADJACENCIES:
		return frt_show_adjacencies(node);
	case FRT_BLOCKED:
		return frt_show_blocked(node);
	case FRT_ROUTES:
	case FRT_SHOWS:
		break;
	}
	return frt_show_routes(node);
}

static void on_probed(void *context, const struct frt_probed *probed)
{
	struct asker *asker = context;

	asker->probe = NULL;
	answer(asker, frt_show_probed(asker->control->node, probed));
}

static bool probe(struct asker *asker, const struct frt_request *request)
{
	const struct frt_probe_attr attr = {
		.target = request->target,
		.ttl = request->ttl,
		.timeout = request->timeout,
		.done = on_probed,
		.context = asker,
	};
	/* It may be over at once, and the answer given. */
	struct frt_probe *begun = frt_probe_begin(asker->control->node, &attr);

	if (!begun)
		return false;
	asker->probe = begun;
	return true;
}

static bool drain(struct asker *asker, const struct frt_request *request)
{
	struct frt_node *node = asker->control->node;

	if (node->stopping && request->action != FRT_DRAIN_STATE)
		return answer_error(asker, "it ends");
	switch (request->action) {
	case FRT_DRAIN_BEGIN:
		frt_drain_begin(node);
		break;
	case FRT_DRAIN_EXIT:
		frt_drain_exit(node, request->deadline);
		break;
	case FRT_DRAIN_UNDO:
		frt_drain_undo(node);
		break;
	case FRT_DRAIN_STATE:
	case FRT_DRAIN_ACTIONS:
		break;
	}
	return answer(asker, frt_show_drain(node));
}

static bool obey(struct asker *asker, const struct frt_request *request)
{
	struct frt_node *node = asker->control->node;

	switch (request->command) {
	case FRT_PROBE:
		asker_deadline(asker, request->timeout + FRT_CONTROL_MS);
		return probe(asker, request);
	case FRT_READY:
		return answer(asker, frt_show_ready(node));
	case FRT_TOP:
		return answer(asker, frt_show_top(node, request->count));
	case FRT_WHY:
		return answer(asker, frt_show_why(node, request));
	case FRT_DRAIN:
		return drain(asker, request);
	case FRT_FAULT:
		return answer(asker, frt_inject(node, &request->fault));
	case FRT_SHOW:
	case FRT_COMMANDS:
		break;
	}
	if (request->what != FRT_ROUTES)
		return answer(asker, show(asker->control->node, request->what));
	asker->document = frt_show_routes(asker->control->node);
	if (!asker->document)
		return answer(asker, NULL);
	asker->control->documents++;
	/* However long it takes: each step has its bound. */
	crn_deadline_remove(&asker->control->node->deadlines, &asker->deadline);
	return true;
}

static void asked(struct asker *asker, size_t len)
{
	/* From now on only its end is of interest, which epoll always tells. */
	struct epoll_event event = {.data.ptr = asker};
	struct frt_request request;
	const char *why = frt_request_parse(&request, asker->request, len);

	asker->asked = true;
	epoll_ctl(asker->control->epfd, EPOLL_CTL_MOD, asker->fd, &event);
	if (why)
		answer_error(asker, why);
	else
		obey(asker, &request);
}

static void read_request(struct asker *asker)
{
	const size_t room = sizeof(asker->request) - asker->got;
	ssize_t ret = recv(asker->fd, asker->request + asker->got, room, MSG_DONTWAIT);
	const char *end;

	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (ret < 0 || (!ret && !asker->got)) {
		asker_free(asker);
		return;
	}
	asker->got += (size_t)ret;
	end = memchr(asker->request, '\n', asker->got);
	if (end)
		asked(asker, (size_t)(end - asker->request));
	else if (!ret)
		asked(asker, asker->got);
	else if (asker->got == sizeof(asker->request))
		answer_error(asker, "the request is longer than 1024 bytes");
}

_Static_assert(FRT_REQUEST_MAX == 1024, "the text above");

/* --- Who connects --- */

static void take(struct frt_control *control, int fd)
{
	struct asker *asker = calloc(1, sizeof(*asker));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = asker};

	if (!asker || epoll_ctl(control->epfd, EPOLL_CTL_ADD, fd, &event)) {
		free(asker);
		close(fd);
		return;
	}
	asker->control = control;
	asker->fd = fd;
	crn_list_add_tail(&control->askers, &asker->entry);
	control->count++;
	asker_deadline(asker, FRT_CONTROL_MS);
}

static void accept_one(struct frt_control *control)
{
	static const char many[] = "{\"error\": \"too many ask at the same time\"}";
	const int flags = SOCK_NONBLOCK | SOCK_CLOEXEC;
	int fd = accept4(control->file.fd, NULL, NULL, flags);

	if (fd < 0 && errno == EMFILE && frt_node_reserve_use(control->node))
		fd = accept4(control->file.fd, NULL, NULL, flags);
	if (fd < 0)
		return;
	if (control->count < FRT_CONTROL_CLIENTS) {
		take(control, fd);
		return;
	}
	if (send(fd, many, sizeof(many) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		frt_log(FRT_DEBUG, "control: nobody reads why it was turned away");
	close(fd);
}

static void handle(struct frt_control *control, const struct epoll_event *event)
{
	struct asker *asker = event->data.ptr;

	if (!asker)
		accept_one(control);
	else if (asker->answer)
		send_answer(asker);
	else if (asker->asked)
		asker_free(asker); /* It does not wait for the answer. */
	else
		read_request(asker);
}

/* --- In the loop --- */

static void go_on(struct frt_control *control)
{
	struct crn_list *entry, *next;
	struct asker *asker;
	json_t *document;

	crn_list_for_each_safe (entry, next, &control->askers) {
		asker = crn_container_of(entry, struct asker, entry);
		document = asker->document;
		if (!document ||
		    frt_show_routes_more(control->node, document, &asker->next))
			continue;
		asker->document = NULL;
		control->documents--;
		answer(asker, document);
	}
}

bool frt_control_run(struct frt_control *control)
{
	struct epoll_event event;
	uint32_t i;

	if (!control)
		return false;
	/* One at a time: what one does may free what another event is of. */
	for (i = 0; i < EVENTS && epoll_wait(control->epfd, &event, 1, 0) == 1; i++)
		handle(control, &event);
	if (control->documents)
		go_on(control);
	return control->documents;
}

/* --- Begin and end --- */

static int watch(struct frt_control *control)
{
	struct epoll_event event = {.events = EPOLLIN};

	control->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (control->epfd < 0 ||
	    epoll_ctl(control->epfd, EPOLL_CTL_ADD, control->file.fd, &event) ||
	    epoll_ctl(control->node->epfd, EPOLL_CTL_ADD, control->epfd, &event))
		return -errno;
	return 0;
}

int frt_control_open(struct frt_node *node, struct frt_control **out)
{
	const char *path = frt_config(node)->router.control;
	struct frt_control *control = calloc(1, sizeof(*control));
	int ret = -ENOMEM;

	*out = NULL;
	if (control) {
		control->node = node;
		control->epfd = control->file.fd = -1;
		crn_list_init(&control->askers);
		control->path = strdup(path);
	}
	if (control && control->path)
		ret = frt_control_listen(&control->file, control->path);
	if (!ret)
		ret = watch(control);
	if (ret) {
		frt_log(FRT_WARN,
			"fi_routectl cannot ask at %s: %s; give control another path, or "
			"see to its folder",
			path,
			ret == -EADDRINUSE ? "another daemon listens there"
					   : strerror(-ret));
		frt_control_close(control);
		return ret;
	}
	*out = control;
	return 0;
}

void frt_control_close(struct frt_control *control)
{
	if (!control)
		return;
	while (!crn_list_empty(&control->askers))
		asker_free(crn_container_of(control->askers.next, struct asker, entry));
	frt_control_unlisten(&control->file);
	if (control->epfd >= 0)
		close(control->epfd);
	free(control->path);
	free(control);
}
