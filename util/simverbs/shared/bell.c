/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "shared.h"

static void svb_bell_addr(uint32_t name, struct sockaddr_un *addr)
{
	*addr = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/bell.%u.%u", svb_self.dir,
		 name >> SVB_BELL_BITS, name & ((1u << SVB_BELL_BITS) - 1));
}

int svb_bell_open(uint32_t serial, uint32_t *name)
{
	static uint32_t next = SVB_BELL_SERVICE;
	struct sockaddr_un addr;
	int fd, ret, tries;

	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	/* Serials wrap; one that is still in use is passed over. */
	for (tries = 0; tries < 1000; tries++) {
		*name = serial;
		while (*name <= SVB_BELL_SERVICE && !serial)
			*name = __atomic_add_fetch(&next, 1, __ATOMIC_RELAXED) &
				((1u << SVB_BELL_BITS) - 1);
		*name = svb_bell_name(svb_self.index, *name);
		svb_bell_addr(*name, &addr);
		ret = bind(fd, (struct sockaddr *)&addr, sizeof(addr)) ? errno : 0;
		if (!ret)
			return fd;
		if (ret != EADDRINUSE || serial)
			break;
	}
	close(fd);
	errno = ret;
	return -1;
}

void svb_bell_close(int fd, uint32_t name)
{
	struct sockaddr_un addr;

	svb_bell_addr(name, &addr);
	unlink(addr.sun_path);
	close(fd);
}

void svb_bell_ring(uint32_t name)
{
	struct sockaddr_un addr;
	int err = errno;

	if (!name)
		return;
	svb_bell_addr(name, &addr);
	sendto(svb_self.ring_fd, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT,
	       (struct sockaddr *)&addr, sizeof(addr));
	errno = err;
}

int svb_bell_take(int fd)
{
	char rest;

	return recv(fd, &rest, 1, 0) < 0 ? errno : 0;
}

void svb_bell_keep(int fd, uint32_t name)
{
	char rest;

	if (recv(fd, &rest, 1, MSG_PEEK | MSG_DONTWAIT) < 0)
		svb_bell_ring(name);
}

void svb_async_raise(uint32_t *events, uint32_t bell, enum ibv_event_type type)
{
	uint32_t bit = 1u << type;

	if (!(__atomic_fetch_or(events, bit, __ATOMIC_ACQ_REL) & bit))
		svb_bell_ring(bell);
}

/* Its name is the bell's with the serial that no bell has. */
int svb_life_open(void)
{
	struct sockaddr_un addr;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), ret;

	if (fd < 0)
		return -1;
	svb_bell_addr(svb_bell_name(svb_self.index, 0), &addr);
	if (!bind(fd, (struct sockaddr *)&addr, sizeof(addr)) && !listen(fd, SOMAXCONN))
		return fd;
	ret = errno;
	close(fd);
	errno = ret;
	return -1;
}

/* Nobody accepts: that the connection is in the queue is enough. */
int svb_life_watch(uint32_t index)
{
	struct sockaddr_un addr;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	svb_bell_addr(svb_bell_name(index, 0), &addr);
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	close(fd);
	return -1;
}
