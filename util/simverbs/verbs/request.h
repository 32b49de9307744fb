/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is asked of running processes: files that appear in a folder of where they meet,
 * named WHAT for all of them or WHAT@PID for one. That they were there is enough.
 */
#ifndef SVB_VERBS_REQUEST_H
#define SVB_VERBS_REQUEST_H

/* what: without "@PID". In the service thread. */
typedef void (*svb_request_fn)(const char *what);

/*
 * Calls fn for requests to this process in that folder from now on; once for each fn.
 * Without threads nothing is heard. Returns 0 or an errno.
 */
int svb_request_watch(const char *folder, svb_request_fn fn);

/* The child of a fork hears for itself. */
void svb_request_forget(void);

#endif
