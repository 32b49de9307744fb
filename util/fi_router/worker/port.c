/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <sys/epoll.h>

#include "worker.h"

int frt_port_watch(struct frt_port *port)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = port};
	int ret = rte_port_fds(port->port, port->fd), i;

	for (i = 0; i < RTE_PORT_FDS && !ret; i++)
		if (port->fd[i] >= 0 &&
		    epoll_ctl(port->worker->epfd, EPOLL_CTL_ADD, port->fd[i], &event))
			ret = -errno;
	return ret;
}

void frt_port_unwatch(struct frt_port *port)
{
	int i;

	for (i = 0; i < RTE_PORT_FDS; i++) {
		if (port->fd[i] >= 0)
			epoll_ctl(port->worker->epfd, EPOLL_CTL_DEL, port->fd[i], NULL);
		port->fd[i] = -1;
	}
}

void frt_port_fired(struct frt_port *port)
{
	port->fired = true;
	port->quiet = 0;
}
