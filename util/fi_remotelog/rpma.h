/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appends over librpma, a peer of pverbs: a second connection between the same client and
 * server over the same device, for the data alone; messages stay on libfabric's. Where
 * librpma was not there when this was built, all but rlg_rpma_missing fail (rpma_none.c).
 * Functions return 0 or a negative FI_E* code after saying on stderr what went wrong. One
 * thread.
 */
#ifndef RLG_RPMA_H
#define RLG_RPMA_H

#include "link.h"
#include "medium.h"

struct rlg_rpma;

/* Why there is no librpma; NULL if there is. Until it said so nothing else is called. */
const char *rlg_rpma_missing(void);

/* Server: offers all of the medium at the address, on the first free one of the ports
 * from *port on. */
int rlg_rpma_listen(struct rlg_rpma **rpma, const struct rlg_medium *medium,
		    const char *address, unsigned int *port, int timeout);
/* Waits for the client, timeout seconds at most. */
int rlg_rpma_accept(struct rlg_rpma *rpma);

/* Client: out is what appends are written from. */
int rlg_rpma_connect(struct rlg_rpma **rpma, const struct rlg_options *options,
		     unsigned int port, uint8_t *out, size_t size);
/*
 * Posts an act of the method: a write of len bytes from within out, an atomic write of 8
 * or a flush of what is at a place in the medium. RLG_WAIT: rlg_rpma_poll gives context.
 */
int rlg_rpma_post(struct rlg_rpma *rpma, uint8_t act, const uint8_t *from, size_t len,
		  size_t at, void *context);
/* 1: *context is that of an act that has completed; 0: none has. */
int rlg_rpma_poll(struct rlg_rpma *rpma, void **context);

/* Both sides; NULL is nothing. */
void rlg_rpma_close(struct rlg_rpma *rpma);

#endif
