/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP by libmicrohttpd, without threads of its own. */
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cairn/addr.h>
#include <cairn/wait.h>

#include "inside.h"
#include "log.h"
#include "ready.h"

#define BACKLOG 128

struct frt_metrics {
	struct frt_node *node;
	struct MHD_Daemon *daemon;
};

/* Who has connected. */
struct visitor {
	struct frt_node *node;
	struct crn_deadline deadline;
	int fd;
};

/* --- Time --- */

/* libmicrohttpd finds that it has ended, and tells. */
static void expired(struct crn_deadline *deadline)
{
	shutdown(crn_container_of(deadline, struct visitor, deadline)->fd, SHUT_RDWR);
}

static void came(struct frt_node *node, struct MHD_Connection *connection,
		 struct visitor **out)
{
	const int fd =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
			->connect_fd;
	struct visitor *visitor = calloc(1, sizeof(*visitor));

	*out = visitor;
	if (!visitor) {
		shutdown(fd, SHUT_RDWR);
		return;
	}
	visitor->node = node;
	visitor->fd = fd;
	visitor->deadline.expired = expired;
	crn_deadline_add(&node->deadlines, &visitor->deadline,
			 crn_now_ms() + FRT_METRICS_MS);
}

static void on_connection(void *context, struct MHD_Connection *connection, void **socket,
			  enum MHD_ConnectionNotificationCode code)
{
	struct visitor *visitor = *socket;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		came(context, connection, (struct visitor **)socket);
		return;
	}
	if (visitor)
		crn_deadline_remove(&visitor->node->deadlines, &visitor->deadline);
	free(visitor);
	*socket = NULL;
}

/* --- Answers --- */

/* Takes the body over, which free(3) releases. NULL: no memory for one. */
static enum MHD_Result answer(struct MHD_Connection *connection, unsigned int status,
			      char *body, size_t len, const char *type)
{
	struct MHD_Response *response;
	enum MHD_Result ret = MHD_NO;

	if (!body)
		return MHD_NO;
	response = MHD_create_response_from_buffer(len, body, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(body);
		return MHD_NO;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	/* One deadline is then that of one request. */
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	ret = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return ret;
}

static enum MHD_Result answer_text(struct MHD_Connection *connection, unsigned int status,
				   const char *text)
{
	char *body = strdup(text);

	return answer(connection, status, body, strlen(text),
		      "text/plain; charset=utf-8");
}

static enum MHD_Result answer_metrics(struct frt_node *node,
				      struct MHD_Connection *connection)
{
	size_t len = 0;
	char *body = frt_metrics_text(node, &len);

	return answer(connection, MHD_HTTP_OK, body, len,
		      "text/plain; version=0.0.4; charset=utf-8");
}

static enum MHD_Result answer_ready(struct frt_node *node,
				    struct MHD_Connection *connection)
{
	char why[FRT_READY_SIZE + 1];
	const bool ready = frt_ready(node, why);

	if (ready)
		return answer_text(connection, MHD_HTTP_OK, "ready\n");
	strcat(why, "\n");
	return answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
				  const char *path, const char *method,
				  const char *version, const char *data, size_t *len,
				  void **request)
{
	(void)version, (void)data, (void)len, (void)request;
	if (strcmp(path, "/metrics") && strcmp(path, "/ready"))
		return answer_text(connection, MHD_HTTP_NOT_FOUND,
				   "/metrics and /ready are here\n");
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "GET is the only way to ask\n");
	return path[1] == 'm' ? answer_metrics(context, connection)
			      : answer_ready(context, connection);
}

/* --- In the loop --- */

bool frt_metrics_run(struct frt_metrics *metrics)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (!metrics)
		return false;
	MHD_run(metrics->daemon);
	return MHD_get_timeout(metrics->daemon, &ms) == MHD_YES && !ms;
}

/* --- Begin and end --- */

/* The socket, or -errno. */
static int listen_at(const char *text)
{
	union crn_addr addr;
	const int on = 1;
	int fd, err;

	if (rte_listen_parse(text, &addr.ss))
		return -EINVAL;
	fd = socket(addr.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) &&
	    !bind(fd, &addr.sa, (socklen_t)crn_addr_len(&addr.sa)) &&
	    !listen(fd, BACKLOG))
		return fd;
	err = errno;
	close(fd);
	return -err;
}

static int start(struct frt_metrics *metrics, const char *text)
{
	struct epoll_event event = {.events = EPOLLIN};
	struct frt_node *node = metrics->node;
	const int fd = listen_at(text);

	if (fd < 0)
		return fd;
	/* The socket is libmicrohttpd's from now on. */
	metrics->daemon =
		MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, node,
				 MHD_OPTION_LISTEN_SOCKET, fd,
				 MHD_OPTION_CONNECTION_LIMIT, FRT_METRICS_CLIENTS,
				 MHD_OPTION_CONNECTION_MEMORY_LIMIT,
				 (size_t)FRT_METRICS_MEMORY, MHD_OPTION_NOTIFY_CONNECTION,
				 on_connection, node, MHD_OPTION_END);
	if (!metrics->daemon)
		return -ENOMEM;
	return epoll_ctl(node->epfd, EPOLL_CTL_ADD,
			 MHD_get_daemon_info(metrics->daemon, MHD_DAEMON_INFO_EPOLL_FD)
				 ->epoll_fd,
			 &event)
		       ? -errno
		       : 0;
}

struct frt_metrics *frt_metrics_open(struct frt_node *node)
{
	const char *text = frt_config(node)->router.metrics;
	struct frt_metrics *metrics;
	int ret = -ENOMEM;

	if (!text)
		return NULL;
	metrics = calloc(1, sizeof(*metrics));
	if (metrics) {
		metrics->node = node;
		ret = start(metrics, text);
	}
	if (!ret)
		return metrics;
	frt_log(FRT_WARN,
		"nobody can read metrics at %s: %s; give metrics another address in %s, "
		"and restart",
		text, strerror(-ret), node->path);
	frt_metrics_close(metrics);
	return NULL;
}

void frt_metrics_close(struct frt_metrics *metrics)
{
	if (metrics && metrics->daemon)
		MHD_stop_daemon(metrics->daemon);
	free(metrics);
}
