/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>
#include "request.h"
#include "verbs.h"

/* Folders that are watched. */
#define SVB_REQUESTS 2

static struct {
	pthread_mutex_t mutex;
	uint32_t count;
	struct {
		int fd; /* inotify */
		svb_request_fn fn;
	} of[SVB_REQUESTS];
} svb_requests = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void svb_request_read(const char *name, svb_request_fn fn)
{
	char what[NAME_MAX + 1], *pid;

	snprintf(what, sizeof(what), "%s", name);
	pid = strchr(what, '@');
	if (pid) {
		*pid = '\0';
		if (strtol(pid + 1, NULL, 10) != (long)getpid())
			return;
	}
	fn(what);
}

static void svb_request_heard(int fd, void *fn)
{
	_Alignas(struct inotify_event) char
		buf[sizeof(struct inotify_event) + NAME_MAX + 1];
	const struct inotify_event *event;
	ssize_t len, at;

	len = read(fd, buf, sizeof(buf));
	for (at = 0; at < len; at += (ssize_t)(sizeof(*event) + event->len)) {
		event = (const struct inotify_event *)(buf + at);
		if (event->len)
			svb_request_read(event->name, (svb_request_fn)fn);
	}
}

/* Mutex held. */
static int svb_request_begin(const char *folder, svb_request_fn fn)
{
	char path[sizeof(svb_self.dir) + 16];
	int fd, ret;

	if (svb_requests.count == SVB_REQUESTS)
		return ENOSPC;
	snprintf(path, sizeof(path), "%s/%s", svb_self.dir, folder);
	if (mkdir(path, 0700) && errno != EEXIST)
		return errno;
	fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (fd < 0)
		return errno;
	ret = inotify_add_watch(fd, path, IN_CREATE | IN_MOVED_TO) < 0 ? errno : 0;
	if (!ret)
		ret = svb_service_watch(fd, svb_request_heard, (void *)fn);
	if (ret) {
		close(fd);
		return ret;
	}
	svb_requests.of[svb_requests.count].fd = fd;
	svb_requests.of[svb_requests.count++].fn = fn;
	return 0;
}

int svb_request_watch(const char *folder, svb_request_fn fn)
{
	bool watched = false;
	uint32_t i;
	int ret;

	pthread_mutex_lock(&svb_requests.mutex);
	for (i = 0; i < svb_requests.count; i++)
		watched |= svb_requests.of[i].fn == fn;
	ret = watched ? 0 : svb_request_begin(folder, fn);
	pthread_mutex_unlock(&svb_requests.mutex);
	return ret;
}

void svb_request_forget(void)
{
	while (svb_requests.count)
		close(svb_requests.of[--svb_requests.count].fd);
	pthread_mutex_init(&svb_requests.mutex, NULL);
}
