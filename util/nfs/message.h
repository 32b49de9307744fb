/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as bytes: Calls and Replies with one COMPOUND each. Pure functions; what a
 * peer sends is bounded by nfs41.x and by the message's own length.
 */
#ifndef NFC_MESSAGE_H
#define NFC_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "link/link.h"
#include "nfs41.h"
#include "rpcmsg/head.h"

#define NFC_PROC_COMPOUND 1u

struct nfc_compound {
	nfs_argop4 ops[NFS4_OPS_MAX];
	unsigned int count;
	unsigned int data_after; /* operations before a Call's data; 0: all */
};

/* The next operation, its arguments zero; the pointers that are set stay the caller's. */
nfs_argop4 *nfc_add(struct nfc_compound *compound, unsigned int op);
/* A Call with AUTH_SYS of this process. Its bytes, 0: room is too small. */
size_t nfc_pack_call(uint8_t *at, size_t room, uint32_t xid,
		     struct nfc_compound *compound);
/*
 * The COMPOUND of a Reply. 0: *res is to be freed by nfc_free_reply; else -FI_EIO, or
 * -FI_EACCES for credentials that were denied, and why (LNK_WHY bytes) says it.
 */
int nfc_parse_reply(const uint8_t *bytes, size_t len, COMPOUND4res *res, char *why);
void nfc_free_reply(COMPOUND4res *res);

/* A string as opaque bytes, still the caller's. */
text4 nfc_text(const char *text);

#endif
