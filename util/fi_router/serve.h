/* SPDX-License-Identifier: BSD-2-Clause */
/* The loop: everything that happens, until a signal ends it. */
#ifndef FRT_SERVE_H
#define FRT_SERVE_H

#include "control/control.h"
#include "node.h"

struct frt_serve {
	struct frt_node *node;
	uint64_t busy; /* ns of looking for work before it sleeps */
	int signals;   /* signalfd(2) */
	uint64_t last; /* ns: when there was something to do; while it looks for work */
	uint64_t ends; /* ms: when it ends, whatever is left; 0: it goes on */
	uint32_t turns;
	struct frt_control *control; /* the owner's; NULL: nobody can ask */
	bool asked;		     /* there may be something for control to do */
};

/* SIGTERM, SIGINT and SIGHUP are the loop's from now on. Sets node->epfd. */
int frt_serve_open(struct frt_serve *serve, struct frt_node *node, uint32_t busy_us);
void frt_serve_close(struct frt_serve *serve);
/* Returns after SIGTERM or SIGINT, when others have been told, or within a second. Of two
 * signals the second ends the process. */
void frt_serve(struct frt_serve *serve);

#endif
