/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a connection, and serving one without svc_run. */
#include <errno.h>
#include "conn.h"

#define CONNECT_MS 25000

static bool connect_over(struct fi_rpc *conn, void *arg)
{
	return conn->state != CRPC_CONNECTING;
}

static int connect_wait(struct fi_rpc *conn, struct fi_info *info, int timeout)
{
	struct timespec until;
	int ret;

	crpc_deadline(&until, timeout ? timeout : CONNECT_MS);
	ret = fi_connect(conn->ep, info->dest_addr, NULL, 0);
	if (ret)
		return ret;
	pthread_mutex_lock(&conn->lock);
	if (!crpc_wait(conn, connect_over, NULL, &until, false))
		ret = -FI_ETIMEDOUT;
	else if (conn->state == CRPC_DOWN)
		ret = -conn->err;
	pthread_mutex_unlock(&conn->lock);
	return ret;
}

int fi_rpc_connect(const char *stack, const char *node, const char *service,
		   const struct fi_rpc_attr *attr, struct fi_rpc **conn)
{
	static const struct fi_rpc_attr defaults;
	struct crpc_fabric *fabric = NULL;
	struct fi_info *info = NULL;
	struct fi_rpc *made = NULL;
	int ret;

	if (!attr)
		attr = &defaults;
	ret = crpc_info(stack, node, service, 0, &info);
	if (ret)
		return ret;
	ret = crpc_fabric_open(info, &fabric);
	if (!ret) {
		ret = crpc_open(fabric, info, attr, &made);
		crpc_fabric_put(fabric);
	}
	if (!ret)
		ret = connect_wait(made, info, attr->timeout);
	fi_freeinfo(info);
	if (!ret)
		*conn = made;
	else if (made)
		fi_rpc_close(made);
	return ret;
}

static bool serve_over(struct fi_rpc *conn, void *arg)
{
	return conn->queue || conn->state == CRPC_DOWN;
}

static int serve_count(const struct fi_rpc *conn)
{
	const struct crpc_buf *call;
	int count = 0;

	for (call = conn->queue; call; call = call->next)
		count++;
	return count;
}

int fi_rpc_serve(struct fi_rpc *conn, int timeout)
{
	struct timespec until;
	int served = 0, left;

	/* A dispatch function may close the connection. */
	crpc_get(conn);
	crpc_deadline(&until, timeout);
	pthread_mutex_lock(&conn->lock);
	crpc_wait(conn, serve_over, NULL, &until, false);
	/* What comes in meanwhile is the next call's: there may always be more. */
	for (left = serve_count(conn); left && crpc_svc_serve(conn); left--)
		served++;
	if (!served && conn->state == CRPC_DOWN)
		served = -FI_ENOTCONN;
	crpc_progress(conn);
	pthread_mutex_unlock(&conn->lock);
	crpc_put(conn);
	return served;
}
