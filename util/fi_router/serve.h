/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop: everything that happens, until a signal ends it. */
#ifndef FRT_SERVE_H
#define FRT_SERVE_H

#include "control/control.h"
#include "metrics/metrics.h"
#include "node.h"

struct frt_serve {
	struct frt_node *node;
	int signals;	/* signalfd(2) */
	bool signalled; /* to end */
	uint64_t ends;	/* ms: when it ends, whatever is left; 0: it goes on */
	struct frt_control *control; /* the owner's; NULL: nobody can ask */
	struct frt_metrics *metrics; /* the same */
	bool asked;		     /* there may be something for them to do */
};

/* SIGTERM, SIGINT and SIGHUP are the loop's from now on. Sets node->epfd. */
int frt_serve_open(struct frt_serve *serve, struct frt_node *node);
void frt_serve_close(struct frt_serve *serve);
/* Workers are held, by frt_workers_start, and again when it ends. Returns after SIGTERM
 * or SIGINT, or node->leave, when others have been told, or within a second. Of two
 * signals the second ends the process. */
void frt_serve(struct frt_serve *serve);

#endif
