/* SPDX-License-Identifier: BSD-2-Clause */
/* The bytes of an open file, several READs outstanding, written in order. */
#ifndef NFG_FETCH_H
#define NFG_FETCH_H

#include "part.h"
#include "progress.h"

/* Bytes of one READ: what is wanted, or the most that the session's replies hold. */
uint32_t nfg_block(const struct nfc_session *session, uint32_t wanted);
/*
 * From part->have to the end of the file. memory: block bytes for each slot, which the
 * session may use until it is closed. False: said on stderr.
 */
bool nfg_fetch(struct nfc_session *session, const struct nfc_file *file,
	       struct nfg_part *part, struct nfg_progress *progress, uint8_t *memory,
	       uint32_t block);

#endif
