/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Heads of RPC messages (RFC 5531 section 9). Pure functions; what a peer sends is
 * bounded by rpcmsg.x and by the message's own length.
 */
#ifndef RPM_HEAD_H
#define RPM_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "rpcmsg/rpcmsg.h"

/* The XID of a message and whether it is a Call. False: it is neither. */
bool rpm_peek(const uint8_t *bytes, size_t len, uint32_t *xid, bool *call);

/* The head of an accepted Reply with AUTH_NONE, up to its results. False: no room. */
bool rpm_put_reply(XDR *xdr, uint32_t xid, unsigned int stat);
/* PROG_MISMATCH: there are the versions low to high. */
bool rpm_put_mismatch(XDR *xdr, uint32_t xid, unsigned int low, unsigned int high);

/*
 * Takes the head of a Reply. 0: it is accepted with SUCCESS, its results are next; else
 * -FI_EIO, or -FI_EACCES for credentials that were denied, and why, room bytes, says it.
 */
int rpm_take_reply(XDR *xdr, char *why, size_t room);

#endif
