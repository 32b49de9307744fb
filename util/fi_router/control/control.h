/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The socket at which people ask the running daemon: fi_routectl(1). One JSON object in
 * one line is a request, one JSON document its answer, after which the connection ends.
 * Nobody who asks makes the loop wait: descriptors do not block, an answer is built in
 * memory, long ones in steps, and all of it has a deadline.
 */
#ifndef FRT_CONTROL_H
#define FRT_CONTROL_H

#include "node.h"

/* Connections at a time. */
#define FRT_CONTROL_CLIENTS 16u
/* ms: to say what is wanted; and to read the answer. */
#define FRT_CONTROL_MS 5000u

struct frt_control;

/*
 * Listens at the path of the configuration, which the loop's epoll watches as well. Who
 * listens there already keeps it: -EADDRINUSE. Another error: -errno. Both are logged.
 */
int frt_control_open(struct frt_node *node, struct frt_control **control);
/* Ends all connections, and removes the socket. NULL is allowed. */
void frt_control_close(struct frt_control *control);
/* What there is to do, in the loop: outside of any callback. True: there is more to do at
 * once. */
bool frt_control_run(struct frt_control *control);

#endif
