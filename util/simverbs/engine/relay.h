/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moving bytes where the system forbids process_vm_readv(2) and process_vm_writev(2): a
 * thread of the process whose memory it is copies, between that memory and a staging area
 * in the segment of the process that asks. Slower by two changes of thread.
 *
 * The thread takes no lock that anybody else holds, so who asks may hold any.
 */
#ifndef SVB_ENGINE_RELAY_H
#define SVB_ENGINE_RELAY_H

#include <stdbool.h>
#include "memory.h"

/*
 * Moves the whole of one span to the other; own is memory of this process. Consumes both.
 * Returns as svb_move; ESRCH also when the other process does not answer for as long as
 * settings.retry_cap.
 */
int svb_relay_transfer(struct svb_span *own, struct svb_span *other, bool write);

/* Starts this process' thread, if threads are allowed. Returns 0 or an errno. */
int svb_relay_start(void);

/* Starts it if somebody asked for it; without threads, copies what is asked for now. */
void svb_relay_look(void);

/* Ends the thread, if any. The child of a fork forgets it. */
void svb_relay_stop(void);
void svb_relay_forget(void);

#endif
