/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back channel's service (RFC 8881 section 20): CB_SEQUENCE, and CB_RECALL, which is
 * remembered for whoever returns the delegation. Pure but for struct nfc_callbacks.
 */
#ifndef NFC_CALLBACK_H
#define NFC_CALLBACK_H

#include "message.h"

#define NFC_RECALLS 16u

struct nfc_callbacks {
	sessionid4 sessionid;
	uint32_t sequence; /* of the last CB_SEQUENCE; one slot */
	uint8_t last[512]; /* the Reply to it */
	size_t last_len;
	stateid4 recalls[NFC_RECALLS]; /* not taken yet */
	unsigned int recalled;
	uint64_t served; /* CB_COMPOUNDs */
};

/* conn->serve of a session; arg: struct nfc_callbacks. */
size_t nfc_callback_serve(void *arg, const uint8_t *bytes, size_t len, uint8_t *answer,
			  size_t room);
/* A delegation that the server wants back; false: there is none. */
bool nfc_callback_recall(struct nfc_callbacks *callbacks, stateid4 *stateid);

#endif
