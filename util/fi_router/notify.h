/* SPDX-License-Identifier: BSD-2-Clause */
/* Tells the service manager how the daemon is: sd_notify(3), whose protocol is a datagram
 * to the socket that NOTIFY_SOCKET names. */
#ifndef FRT_NOTIFY_H
#define FRT_NOTIFY_H

/* "READY=1" and the like. Nobody may be there to hear it. */
void frt_notify(const char *state);

#endif
