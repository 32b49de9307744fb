/* SPDX-License-Identifier: BSD-2-Clause */
/* Opening a port, and agents. Errors are negative, as libibumad has them. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "umad.h"

#define SVB_UMAD_PORTS 64

static struct {
	pthread_mutex_t mutex;
	struct svb_umad_port *of[SVB_UMAD_PORTS];
} svb_umads = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct svb_umad_port *svb_umad_lock(int fd)
{
	int i;

	pthread_mutex_lock(&svb_umads.mutex);
	for (i = 0; i < SVB_UMAD_PORTS; i++)
		if (svb_umads.of[i] && svb_umads.of[i]->fd == fd &&
		    svb_umads.of[i]->pid == (uint32_t)getpid())
			return svb_umads.of[i];
	pthread_mutex_unlock(&svb_umads.mutex);
	return NULL;
}

void svb_umad_unlock(void)
{
	pthread_mutex_unlock(&svb_umads.mutex);
}

static void svb_umad_free(struct svb_umad_port *port)
{
	struct crn_list *entry;

	while ((entry = crn_list_pop(&port->msgs)))
		free(crn_container_of(entry, struct svb_umad_msg, entry));
	if (port->bell_fd >= 0)
		svb_bell_close(port->bell_fd, port->bell);
	if (port->timer_fd >= 0)
		close(port->timer_fd);
	if (port->fd >= 0)
		close(port->fd);
	free(port);
}

static int svb_umad_poll_on(struct svb_umad_port *port, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	return fd < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) ||
			       epoll_ctl(port->fd, EPOLL_CTL_ADD, fd, &event)
		       ? errno
		       : 0;
}

static int svb_umad_open(const struct svb_port *where, struct svb_umad_port **opened)
{
	struct svb_umad_port *port = calloc(1, sizeof(*port));
	int ret;

	if (!port)
		return ENOMEM;
	port->port = where;
	port->pid = (uint32_t)getpid();
	crn_list_init(&port->msgs);
	port->bell_fd = svb_bell_open(0, &port->bell);
	port->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	port->fd = epoll_create1(EPOLL_CLOEXEC);
	ret = port->fd < 0 ? errno : svb_umad_poll_on(port, port->bell_fd);
	if (!ret)
		ret = svb_umad_poll_on(port, port->timer_fd);
	if (ret) {
		svb_umad_free(port);
		return ret;
	}
	*opened = port;
	return 0;
}

static int svb_umad_keep(struct svb_umad_port *port)
{
	int i, found = -1;

	pthread_mutex_lock(&svb_umads.mutex);
	for (i = 0; i < SVB_UMAD_PORTS && found < 0; i++)
		if (!svb_umads.of[i]) {
			svb_umads.of[i] = port;
			found = port->fd;
		}
	pthread_mutex_unlock(&svb_umads.mutex);
	return found;
}

SVB_API int umad_open_port(const char *ca_name, int portnum)
{
	struct svb_umad_port *port = NULL;
	const struct svb_port *where;
	int fd;

	if (svb_join() || svb_port_event_watch())
		return -EIO;
	where = svb_umad_find(ca_name, portnum);
	/* Ethernet has no subnet administration. */
	if (!where || svb_self.settings.link != SVB_LINK_IB)
		return -ENODEV;
	if (!svb_self.settings.umad) {
		errno = EACCES;
		return -EIO;
	}
	fd = svb_umad_open(where, &port);
	if (fd)
		return -fd;
	fd = svb_umad_keep(port);
	if (fd < 0)
		svb_umad_free(port);
	return fd < 0 ? -EMFILE : fd;
}

SVB_API int umad_close_port(int fd)
{
	struct svb_umad_port *port = svb_umad_lock(fd);
	int i;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SVB_UMAD_PORTS; i++)
		if (svb_umads.of[i] == port)
			svb_umads.of[i] = NULL;
	svb_subnet_unsubscribe(port->bell);
	svb_umad_unlock();
	svb_umad_free(port);
	return 0;
}

SVB_API int umad_get_fd(int fd)
{
	return fd;
}

static int svb_umad_agent(int fd, const struct svb_umad_agent *agent)
{
	struct svb_umad_port *port = svb_umad_lock(fd);
	int i, found = -ENOMEM;

	if (!port)
		return -EINVAL;
	for (i = 0; i < SVB_UMAD_AGENTS && found < 0; i++)
		if (!port->agent[i].used) {
			port->agent[i] = *agent;
			port->agent[i].used = true;
			found = i;
		}
	svb_umad_unlock();
	return found;
}

SVB_API int umad_register2(int port_fd, struct umad_reg_attr *attr, uint32_t *agent_id)
{
	struct svb_umad_agent agent;
	int ret;

	if (!attr || !agent_id)
		return EINVAL;
	agent = (struct svb_umad_agent){
		.class = attr->mgmt_class,
		/* Who asks for its own does not want the kernel's. */
		.rmpp = attr->flags & UMAD_USER_RMPP ? 0 : attr->rmpp_version,
		.methods = {attr->method_mask[0], attr->method_mask[1]},
	};
	ret = svb_umad_agent(port_fd, &agent);
	if (ret < 0)
		return -ret;
	*agent_id = (uint32_t)ret;
	return 0;
}

SVB_API int umad_register(int portid, int mgmt_class, int mgmt_version,
			  uint8_t rmpp_version, long method_mask[16 / sizeof(long)])
{
	struct svb_umad_agent agent = {
		.class = (uint8_t)mgmt_class,
		.rmpp = rmpp_version,
	};

	if (mgmt_version < 0)
		return -EINVAL;
	if (method_mask)
		memcpy(agent.methods, method_mask, sizeof(agent.methods));
	return svb_umad_agent(portid, &agent);
}

SVB_API int umad_register_oui(int portid, int mgmt_class, uint8_t rmpp_version,
			      uint8_t oui[3], long method_mask[16 / sizeof(long)])
{
	/* Classes of vendors, which have an OUI: 0x30 to 0x4f. */
	if (!oui || mgmt_class < 0x30 || mgmt_class > 0x4f)
		return -EINVAL;
	return umad_register(portid, mgmt_class, 1, rmpp_version, method_mask);
}

SVB_API int umad_unregister(int portid, int agentid)
{
	struct svb_umad_port *port = svb_umad_lock(portid);
	int ret = -EINVAL;

	if (!port)
		return ret;
	if (agentid >= 0 && agentid < SVB_UMAD_AGENTS && port->agent[agentid].used) {
		port->agent[agentid].used = false;
		ret = 0;
	}
	svb_umad_unlock();
	return ret;
}
