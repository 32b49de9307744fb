/* SPDX-License-Identifier: BSD-2-Clause */
/* Connections that come in. One is handed out before it is up: a peer that stalls while
 * it connects keeps nobody waiting. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "conn.h"

struct fi_rpc_listener {
	struct crpc_fabric *fabric;
	struct fid_pep *pep;
	struct fid_eq *eq;
	struct fi_rpc_attr attr;
	int fd;
};

static int listen_open(struct fi_rpc_listener *listener, struct fi_info *info)
{
	struct fi_eq_attr attr = {.wait_obj = FI_WAIT_FD};
	int ret, eq_fd;

	listener->fd = epoll_create1(EPOLL_CLOEXEC);
	if (listener->fd < 0)
		return -errno;
	ret = crpc_fabric_open(info, &listener->fabric);
	if (!ret)
		ret = fi_eq_open(listener->fabric->fabric, &attr, &listener->eq, NULL);
	if (!ret)
		ret = crpc_wait_fd(&listener->eq->fid, listener->fd, &eq_fd);
	if (!ret)
		ret = fi_passive_ep(listener->fabric->fabric, info, &listener->pep, NULL);
	if (!ret)
		ret = fi_pep_bind(listener->pep, &listener->eq->fid, 0);
	return ret ? ret : fi_listen(listener->pep);
}

int fi_rpc_listen(const char *stack, const char *node, const char *service,
		  const struct fi_rpc_attr *attr, struct fi_rpc_listener **made)
{
	struct fi_rpc_listener *listener;
	struct fi_info *info;
	int ret;

	/* fi_getinfo(3): FI_SOURCE is about a node or a service. */
	ret = crpc_info(stack, node, node || service ? service : "0", FI_SOURCE, &info);
	if (ret)
		return ret;
	listener = calloc(1, sizeof(*listener));
	ret = listener ? listen_open(listener, info) : -FI_ENOMEM;
	fi_freeinfo(info);
	if (ret) {
		if (listener)
			fi_rpc_listen_close(listener);
		return ret;
	}
	if (attr)
		listener->attr = *attr;
	*made = listener;
	return 0;
}

int fi_rpc_getname(struct fi_rpc_listener *listener, struct sockaddr *addr, size_t *len)
{
	return fi_getname(&listener->pep->fid, addr, len);
}

int fi_rpc_listen_fd(struct fi_rpc_listener *listener)
{
	return listener->fd;
}

static int listen_accept(struct fi_rpc_listener *listener, struct fi_info *info,
			 struct fi_rpc **made)
{
	struct fi_rpc *conn;
	int ret;

	ret = crpc_open(listener->fabric, info, &listener->attr, &conn);
	if (ret) {
		fi_reject(listener->pep, info->handle, NULL, 0);
		return ret;
	}
	ret = fi_accept(conn->ep, NULL, 0);
	if (ret) {
		crpc_put(conn);
		return ret;
	}
	*made = conn;
	return 0;
}

/* -FI_EAGAIN: nothing came in, and the descriptor is armed. */
static int listen_next(struct fi_rpc_listener *listener, struct fi_rpc **conn)
{
	struct fi_eq_err_entry err = {.err = 0};
	struct fid *fid = &listener->eq->fid;
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t got;
	int ret;

	for (;;) {
		got = fi_eq_read(listener->eq, &event, &entry, sizeof(entry), 0);
		if (got == -FI_EAVAIL) {
			/* Of a request that has gone. */
			fi_eq_readerr(listener->eq, &err, 0);
		} else if (got > 0 && event == FI_CONNREQ) {
			ret = listen_accept(listener, entry.info, conn);
			fi_freeinfo(entry.info);
			return ret;
		} else if (got < 0 && got != -FI_EAGAIN) {
			return (int)got;
		} else if (got < 0 &&
			   fi_trywait(listener->fabric->fabric, &fid, 1) != -FI_EAGAIN) {
			return -FI_EAGAIN;
		}
	}
}

int fi_rpc_accept(struct fi_rpc_listener *listener, int timeout, struct fi_rpc **conn)
{
	struct pollfd fd = {.fd = listener->fd, .events = POLLIN};
	struct timespec until;
	int ret;

	crpc_deadline(&until, timeout);
	for (;;) {
		ret = listen_next(listener, conn);
		if (ret != -FI_EAGAIN || !crpc_left(&until))
			return ret;
		poll(&fd, 1, crpc_left(&until));
	}
}

void fi_rpc_listen_close(struct fi_rpc_listener *listener)
{
	if (listener->pep)
		fi_close(&listener->pep->fid);
	if (listener->eq)
		fi_close(&listener->eq->fid);
	if (listener->fabric)
		crpc_fabric_put(listener->fabric);
	if (listener->fd >= 0)
		close(listener->fd);
	free(listener);
}
