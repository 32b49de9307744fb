/* SPDX-License-Identifier: BSD-2-Clause */
/* Who listens in this process, also at every address of this host. */
#include <arpa/inet.h>
#include <pthread.h>
#include "rpct.h"

bool rpct_listen(const struct rpct *t, const char *address,
		 struct fi_rpc_listener **listener, struct rpct *reached)
{
	struct sockaddr_in addr;
	size_t len = sizeof(addr);

	*reached = *t;
	RPCT_CHECK(!fi_rpc_listen(t->stack, address, NULL, NULL, listener));
	RPCT_CHECK(!fi_rpc_getname(*listener, (struct sockaddr *)&addr, &len));
	snprintf(reached->server.port, sizeof(reached->server.port), "%d",
		 ntohs(addr.sin_port));
	return true;
}

static void *connects(void *arg)
{
	struct fi_rpc *conn;

	if (!rpct_connect(arg, NULL, &conn))
		fi_rpc_close(conn);
	return NULL;
}

bool rpct_any_address(struct rpct *t)
{
	struct fi_rpc_listener *listener;
	struct rpct reached;
	struct fi_rpc *conn;
	pthread_t thread;
	int ret;

	RPCT_CHECK(rpct_listen(t, NULL, &listener, &reached));
	RPCT_CHECK(!pthread_create(&thread, NULL, connects, &reached));
	ret = fi_rpc_accept(listener, 10000, &conn);
	pthread_join(thread, NULL);
	RPCT_CHECK(!ret);
	fi_rpc_close(conn);
	fi_rpc_listen_close(listener);
	return true;
}
