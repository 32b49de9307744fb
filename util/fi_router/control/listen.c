/* SPDX-License-Identifier: BSD-2-Clause */
/* The socket as a file: one that nobody listens at any more is replaced. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "inside.h"

#define BACKLOG 16
/* Who may not use it: all but the daemon's user and group. */
#define CLOSED_TO 0117

static int address(struct sockaddr_un *addr, const char *path)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(addr->sun_path))
		return -ENAMETOOLONG;
	strcpy(addr->sun_path, path);
	return 0;
}

/* 0: what is there can go. */
static int is_stale(const struct sockaddr_un *addr)
{
	struct stat status;
	int fd, ret;

	if (lstat(addr->sun_path, &status))
		return -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	/* Also one that has no time for it (EAGAIN) listens. */
	ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? errno : 0;
	close(fd);
	return ret == ECONNREFUSED ? 0 : -EADDRINUSE;
}

static int bind_closed(int fd, const struct sockaddr_un *addr)
{
	const mode_t mask = umask(CLOSED_TO);
	const int ret = bind(fd, (const struct sockaddr *)addr, sizeof(*addr));
	const int err = errno;

	umask(mask);
	return ret ? -err : 0;
}

static int bind_path(int fd, const struct sockaddr_un *addr)
{
	int ret = bind_closed(fd, addr);

	if (ret != -EADDRINUSE)
		return ret;
	ret = is_stale(addr);
	if (!ret && unlink(addr->sun_path))
		ret = -errno;
	return ret ? ret : bind_closed(fd, addr);
}

int frt_control_listen(struct frt_control_file *file, const char *path)
{
	struct sockaddr_un addr;
	struct stat status;
	int ret = address(&addr, path);

	*file = (struct frt_control_file){.fd = -1, .path = path};
	if (ret)
		return ret;
	file->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (file->fd < 0)
		return -errno;
	ret = bind_path(file->fd, &addr);
	if (!ret && (listen(file->fd, BACKLOG) || lstat(path, &status)))
		ret = -errno;
	if (ret) {
		close(file->fd);
		file->fd = -1;
		return ret;
	}
	file->device = status.st_dev;
	file->inode = status.st_ino;
	return 0;
}

void frt_control_unlisten(struct frt_control_file *file)
{
	struct stat status;

	if (file->fd < 0)
		return;
	if (!lstat(file->path, &status) && status.st_dev == file->device &&
	    status.st_ino == file->inode)
		unlink(file->path);
	close(file->fd);
	file->fd = -1;
}
