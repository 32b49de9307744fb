/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP for programs that watch the daemon: GET /metrics is what it counts, in the text
 * format of Prometheus, version 0.0.4; GET /ready says whether it is ready. One request
 * for each connection. Nobody who asks makes the loop wait: libmicrohttpd runs in it,
 * over an epoll of its own, and each connection has a deadline for all of it.
 */
#ifndef FRT_METRICS_H
#define FRT_METRICS_H

#include "node.h"

/* Connections at a time; others wait to be accepted. */
#define FRT_METRICS_CLIENTS 32u
/* Bytes of a request, and of what libmicrohttpd needs for it. */
#define FRT_METRICS_MEMORY 8192u
/* ms: to say what is wanted, and to read the answer. */
#define FRT_METRICS_MS 3000u

struct frt_metrics;

/*
 * Listens where the configuration says, which the loop's epoll watches as well. NULL: it
 * says nothing, or it is in the log why not.
 */
struct frt_metrics *frt_metrics_open(struct frt_node *node);
/* Ends all connections. NULL is allowed. */
void frt_metrics_close(struct frt_metrics *metrics);
/* What there is to do, in the loop: outside of any callback. True: there is more to do at
 * once. */
bool frt_metrics_run(struct frt_metrics *metrics);

#endif
