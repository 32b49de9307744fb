/* SPDX-License-Identifier: BSD-2-Clause */
/* A request to the router, and its answer. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "config/config.h"
#include "live.h"

/* Bytes of an answer at most. */
#define ANSWER_MOST (1u << 30)
#define PIECE 65536u

const char *rct_live_path(const struct rct_live_options *options)
{
	static struct rte_config_errors errors;
	static struct rte_config *config; /* stays: the path is its */

	if (options->socket)
		return options->socket;
	if (rte_config_read(options->config, &config, &errors)) {
		rte_config_errors_print(&errors, stderr);
		return NULL;
	}
	if (config->is_router)
		return config->router.control;
	fprintf(stderr, "fi_routectl: %s is a client's configuration, not a router's\n",
		options->config);
	rte_config_free(config);
	config = NULL;
	return NULL;
}

static int fails(const char *path, int err, char why[RCT_WHY_SIZE])
{
	switch (err) {
	case ENOENT:
	case ECONNREFUSED:
		snprintf(why, RCT_WHY_SIZE, "no router listens at %s", path);
		break;
	case EACCES:
	case EPERM:
		snprintf(why, RCT_WHY_SIZE,
			 "no permission to ask the router at %s: its user and group may",
			 path);
		break;
	case EAGAIN:
	case ETIMEDOUT:
		snprintf(why, RCT_WHY_SIZE, "the router at %s does not answer", path);
		break;
	default:
		snprintf(why, RCT_WHY_SIZE, "%s: %s", path, strerror(err));
	}
	return -1;
}

/* signal(7): with a timeout they are not restarted when the program was stopped and
 * continues. */
static int connect_to(int fd, const struct sockaddr_un *addr)
{
	int ret;

	do {
		ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
	} while (ret && errno == EINTR);
	return ret;
}

static ssize_t send_text(int fd, const char *text, size_t len)
{
	ssize_t ret;

	do {
		ret = send(fd, text, len, MSG_NOSIGNAL);
	} while (ret < 0 && errno == EINTR);
	return ret;
}

static ssize_t receive(int fd, char *to)
{
	ssize_t ret;

	do {
		ret = recv(fd, to, PIECE, 0);
	} while (ret < 0 && errno == EINTR);
	return ret;
}

static int reach(const char *path, uint32_t timeout, char why[RCT_WHY_SIZE])
{
	const struct timeval time = {.tv_sec = timeout / 1000,
				     .tv_usec = timeout % 1000 * 1000};
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return fails(path, ENAMETOOLONG, why);
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return fails(path, errno, why);
	/* Of connect(2) as well, where many others wait. */
	if (!setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) &&
	    !connect_to(fd, &addr))
		return fd;
	err = errno;
	close(fd);
	return fails(path, err, why);
}

/* 0 or an errno. */
static int say(int fd, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT), *grown;
	size_t len = text ? strlen(text) : 0;
	ssize_t ret;

	json_decref(request);
	grown = text ? realloc(text, len + 1) : NULL;
	if (!grown) {
		free(text);
		return ENOMEM;
	}
	grown[len] = '\n';
	ret = send_text(fd, grown, len + 1);
	free(grown);
	return ret < 0 ? errno : 0;
}

/* All until its end; 0 or an errno. */
static int hear(int fd, char **answer, size_t *len)
{
	char *grown;
	ssize_t ret;

	for (*len = 0; *len < ANSWER_MOST; *len += (size_t)ret) {
		grown = realloc(*answer, *len + PIECE);
		if (!grown)
			return ENOMEM;
		*answer = grown;
		ret = receive(fd, grown + *len);
		/* One that has not read all of the request resets it at its end. */
		if (!ret || (ret < 0 && errno == ECONNRESET && *len))
			return 0;
		if (ret < 0)
			return errno;
	}
	return EMSGSIZE;
}

static json_t *understand(const char *path, const char *answer, size_t len,
			  char why[RCT_WHY_SIZE])
{
	json_t *document = json_loadb(answer, len, 0, NULL);
	const json_t *error = json_object_get(document, "error");

	if (!json_is_object(document))
		snprintf(why, RCT_WHY_SIZE, "%s: the answer is no JSON document", path);
	else if (error)
		snprintf(why, RCT_WHY_SIZE, "%s: %s", path, json_string_value(error));
	else
		return document;
	json_decref(document);
	return NULL;
}

json_t *rct_ask_quietly(const char *path, json_t *request, uint32_t timeout,
			char why[RCT_WHY_SIZE])
{
	json_t *document = NULL;
	char *answer = NULL;
	size_t len = 0;
	int fd = reach(path, timeout, why), err;

	if (fd < 0) {
		json_decref(request);
		return NULL;
	}
	err = say(fd, request);
	if (!err)
		err = hear(fd, &answer, &len);
	close(fd);
	if (err)
		fails(path, err, why);
	else
		document = understand(path, answer, len, why);
	free(answer);
	return document;
}

json_t *rct_ask(const char *path, json_t *request, uint32_t timeout)
{
	char why[RCT_WHY_SIZE];
	json_t *document = rct_ask_quietly(path, request, timeout, why);

	if (!document)
		fprintf(stderr, "fi_routectl: %s\n", why);
	return document;
}
