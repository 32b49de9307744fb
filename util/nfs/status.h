/* SPDX-License-Identifier: BSD-2-Clause */
/* Status codes of NFSv4.1 by name (RFC 8881 section 15.1). */
#ifndef NFC_STATUS_H
#define NFC_STATUS_H

#include <stddef.h>
#include <stdint.h>

/* The ones that this client or its tests act on. */
enum {
	NFC_OK = 0,
	NFC_NOENT = 2,
	NFC_IO = 5,
	NFC_ACCESS = 13,
	NFC_NOTDIR = 20,
	NFC_ISDIR = 21,
	NFC_INVAL = 22,
	NFC_STALE = 70,
	NFC_NOTSUPP = 10004,
	NFC_TOOSMALL = 10005,
	NFC_DELAY = 10008,
	NFC_GRACE = 10013,
	NFC_BAD_STATEID = 10025,
	NFC_BADXDR = 10036,
	NFC_OP_ILLEGAL = 10044,
	NFC_BADSESSION = 10052,
	NFC_BADSLOT = 10053,
	NFC_CONN_NOT_BOUND = 10055,
	NFC_SEQ_MISORDERED = 10063,
	NFC_SEQUENCE_POS = 10064,
	NFC_RETRY_UNCACHED_REP = 10068,
	NFC_OP_NOT_IN_SESSION = 10071,
	NFC_DEADSESSION = 10078,
};

/* "NFS4ERR_NOENT (no such file or directory)"; text is the caller's. Returns text. */
const char *nfc_status_text(uint32_t status, char *text, size_t room);

#endif
