/* SPDX-License-Identifier: BSD-2-Clause */
/* The state of a connection, on demand. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rpc.h"

static volatile sig_atomic_t wished;

static void wish(int signal)
{
	wished = 1;
}

int lnk_rpc_catch(void)
{
	const struct sigaction action = {.sa_handler = wish};

	return sigaction(SIGUSR1, &action, NULL) ? -errno : 0;
}

static void show(struct lnk *link, struct fi_cairn_ops_rpc_stats *ops)
{
	const ssize_t len = ops->dump(link->ep, NULL, 0);
	char *text = len > 0 ? malloc((size_t)len + 1) : NULL;

	if (!text)
		return;
	ops->dump(link->ep, text, (size_t)len + 1);
	/* There may be a progress bar. */
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	fputs(text, stderr);
	free(text);
}

void lnk_rpc_show(struct lnk *link)
{
	struct fi_cairn_ops_rpc_stats *ops;

	if (!wished)
		return;
	wished = 0;
	if (!link->ep)
		fputs("no connection\n", stderr);
	else if (!fi_open_ops(&link->ep->fid, FI_CAIRN_RPC_STATS, 0, (void **)&ops, NULL))
		show(link, ops);
}
