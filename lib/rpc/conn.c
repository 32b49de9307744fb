/* SPDX-License-Identifier: BSD-2-Clause */
/* A connection: its objects, and who still has a use for it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "conn.h"

/* Completions at a time beside those of the endpoint's own depths: a receive that is
 * posted again completes again. */
#define CQ_MORE 256

static int conn_option(struct fi_rpc *conn, int option, size_t value)
{
	if (!value)
		return 0;
	return fi_setopt(&conn->ep->fid, FI_OPT_ENDPOINT, option, &value, sizeof(value));
}

static int conn_queues(struct fi_rpc *conn, const struct fi_info *info)
{
	struct fi_cq_attr cq_attr = {
		.size = 4 * (info->tx_attr->size + info->rx_attr->size) + CQ_MORE,
		.format = FI_CQ_FORMAT_MSG,
		.wait_obj = FI_WAIT_FD,
	};
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_FD};
	int ret;

	ret = fi_cq_open(conn->domain, &cq_attr, &conn->cq, NULL);
	if (ret)
		return ret;
	ret = fi_eq_open(conn->fabric->fabric, &eq_attr, &conn->eq, NULL);
	if (ret)
		return ret;
	ret = crpc_wait_fd(&conn->cq->fid, conn->fd, &conn->cq_fd);
	return ret ? ret : crpc_wait_fd(&conn->eq->fid, conn->fd, &conn->eq_fd);
}

static int conn_ep(struct fi_rpc *conn, struct fi_info *info,
		   const struct fi_rpc_attr *attr)
{
	int ret;

	ret = fi_endpoint(conn->domain, info, &conn->ep, NULL);
	if (ret)
		return ret;
	ret = fi_ep_bind(conn->ep, &conn->eq->fid, 0);
	if (!ret)
		ret = fi_ep_bind(conn->ep, &conn->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = conn_option(conn, FI_OPT_CAIRN_RPC_CALLS, attr->calls);
	if (!ret)
		ret = conn_option(conn, FI_OPT_CAIRN_RPC_GRANT, attr->grant);
	if (!ret)
		ret = fi_enable(conn->ep);
	return ret;
}

static int conn_descriptors(struct fi_rpc *conn)
{
	struct epoll_event event = {.events = EPOLLIN};

	conn->fd = epoll_create1(EPOLL_CLOEXEC);
	conn->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	conn->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (conn->fd < 0 || conn->bell < 0 || conn->kick < 0 ||
	    epoll_ctl(conn->fd, EPOLL_CTL_ADD, conn->bell, &event))
		return -errno;
	return 0;
}

/* XIDs of a process that comes again are not those of the one before. */
static uint32_t conn_first_xid(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)getpid() ^ (uint32_t)now.tv_sec ^ (uint32_t)now.tv_nsec << 2;
}

static struct fi_rpc *conn_alloc(void)
{
	struct fi_rpc *conn = calloc(1, sizeof(*conn));
	pthread_condattr_t attr;

	if (!conn)
		return NULL;
	pthread_mutex_init(&conn->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&conn->moved, &attr);
	pthread_condattr_destroy(&attr);
	conn->fd = conn->bell = conn->kick = -1;
	conn->refs = 1;
	conn->next_xid = conn_first_xid();
	return conn;
}

int crpc_open(struct crpc_fabric *fabric, struct fi_info *info,
	      const struct fi_rpc_attr *attr, struct fi_rpc **made)
{
	struct fi_rpc *conn = conn_alloc();
	int ret;

	if (!conn)
		return -FI_ENOMEM;
	__atomic_add_fetch(&fabric->refs, 1, __ATOMIC_RELAXED);
	conn->fabric = fabric;
	conn->max_msg = info->ep_attr->max_msg_size;
	conn->reply_size = attr->reply_size && attr->reply_size < conn->max_msg
				   ? attr->reply_size
				   : conn->max_msg;
	ret = conn_descriptors(conn);
	if (!ret)
		ret = fi_domain(fabric->fabric, info, &conn->domain, NULL);
	if (!ret)
		ret = conn_queues(conn, info);
	if (!ret)
		ret = conn_ep(conn, info, attr);
	if (!ret)
		ret = crpc_recv_start(conn);
	if (ret) {
		crpc_put(conn);
		return ret;
	}
	*made = conn;
	return 0;
}

static void conn_close_fid(struct fid *fid)
{
	if (fid)
		fi_close(fid);
}

static void conn_close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

/* After the endpoint is closed nobody uses its buffers. */
static void conn_free(struct fi_rpc *conn)
{
	conn_close_fid(conn->ep ? &conn->ep->fid : NULL);
	conn_close_fid(conn->cq ? &conn->cq->fid : NULL);
	conn_close_fid(conn->eq ? &conn->eq->fid : NULL);
	conn_close_fid(conn->domain ? &conn->domain->fid : NULL);
	crpc_fabric_put(conn->fabric);
	conn_close_fd(conn->fd);
	conn_close_fd(conn->bell);
	conn_close_fd(conn->kick);
	crpc_call_free_all(conn);
	crpc_reply_free_all(conn);
	crpc_recv_free(conn);
	pthread_cond_destroy(&conn->moved);
	pthread_mutex_destroy(&conn->lock);
	free(conn);
}

void crpc_get(struct fi_rpc *conn)
{
	pthread_mutex_lock(&conn->lock);
	conn->refs++;
	pthread_mutex_unlock(&conn->lock);
}

void crpc_put(struct fi_rpc *conn)
{
	bool last;

	pthread_mutex_lock(&conn->lock);
	last = !--conn->refs;
	pthread_mutex_unlock(&conn->lock);
	if (last)
		conn_free(conn);
}

void fi_rpc_close(struct fi_rpc *conn)
{
	pthread_mutex_lock(&conn->lock);
	if (conn->state != CRPC_DOWN)
		fi_shutdown(conn->ep, 0);
	crpc_down(conn, FI_ECANCELED);
	pthread_mutex_unlock(&conn->lock);
	crpc_svc_close(conn);
	crpc_put(conn);
}

int fi_rpc_fd(struct fi_rpc *conn)
{
	return conn->fd;
}
