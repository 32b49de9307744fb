/* SPDX-License-Identifier: BSD-2-Clause */
/* clnt_control(3). */
#include <string.h>
#include "clnt.h"

bool crpc_time_ok(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_sec <= 100000000 && time->tv_usec >= 0 &&
	       time->tv_usec <= 1000000;
}

static bool_t control_time(struct crpc_clnt *clnt, const struct timeval *time)
{
	if (!crpc_time_ok(time))
		return FALSE;
	clnt->wait = *time;
	clnt->wait_set = true;
	return TRUE;
}

static bool_t control_peer(struct crpc_clnt *clnt, void *addr)
{
	size_t len = sizeof(struct sockaddr_storage);

	return !fi_getpeer(clnt->conn->ep, addr, &len);
}

static bool_t control_peer_netbuf(struct crpc_clnt *clnt, struct netbuf *addr)
{
	size_t len = addr->maxlen;

	if (fi_getpeer(clnt->conn->ep, addr->buf, &len))
		return FALSE;
	addr->len = (u_int)len;
	return TRUE;
}

static bool_t control(struct crpc_clnt *clnt, u_int request, void *info)
{
	switch (request) {
	case CLSET_TIMEOUT:
		return control_time(clnt, info);
	case CLGET_TIMEOUT:
		*(struct timeval *)info = clnt->wait;
		return TRUE;
	case CLGET_SERVER_ADDR:
		return control_peer(clnt, info);
	case CLGET_SVC_ADDR:
		return control_peer_netbuf(clnt, info);
	case CLGET_FD:
		*(int *)info = clnt->conn->fd;
		return TRUE;
	case CLGET_XID:
		*(uint32_t *)info = clnt->xid;
		return TRUE;
	case CLSET_XID:
		clnt->xid = *(uint32_t *)info;
		clnt->xid_set = true;
		return TRUE;
	case CLGET_VERS:
		*(uint32_t *)info = clnt->vers;
		return TRUE;
	case CLSET_VERS:
		clnt->vers = *(uint32_t *)info;
		return TRUE;
	case CLGET_PROG:
		*(uint32_t *)info = clnt->prog;
		return TRUE;
	case CLSET_PROG:
		clnt->prog = *(uint32_t *)info;
		return TRUE;
	case CLGET_FI_REPLY_SIZE:
		*(size_t *)info = clnt->reply_size;
		return TRUE;
	case CLSET_FI_REPLY_SIZE:
		if (*(size_t *)info > clnt->conn->max_msg)
			return FALSE;
		clnt->reply_size = *(size_t *)info;
		return TRUE;
	default:
		return FALSE;
	}
}

bool_t crpc_clnt_control(CLIENT *client, u_int request, void *info)
{
	struct crpc_clnt *clnt = client->cl_private;
	bool_t ret = TRUE;

	pthread_mutex_lock(&clnt->conn->lock);
	if (request == CLSET_FD_CLOSE || request == CLSET_FD_NCLOSE)
		clnt->close = request == CLSET_FD_CLOSE;
	else
		ret = info && control(clnt, request, info);
	pthread_mutex_unlock(&clnt->conn->lock);
	return ret;
}
