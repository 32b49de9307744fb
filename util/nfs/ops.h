/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of file.h share: operations added to a compound, results taken out. */
#ifndef NFC_OPS_H
#define NFC_OPS_H

#include "file.h"

void nfc_add_putfh(struct nfc_compound *compound, const struct nfc_handle *handle);
/* All of struct nfc_attrs. */
void nfc_add_getattr(struct nfc_compound *compound);

/* The result of that operation at that place; NULL: the server left it out. */
nfs_resop4 *nfc_result(COMPOUND4res *res, unsigned int index, unsigned int op);
/* Frees res and says that it is so. */
int nfc_lacks(struct nfc_session *session, COMPOUND4res *res);
void nfc_take_handle(struct nfc_handle *handle, const nfs_fh4 *from);
int nfc_take_attrs(struct nfc_session *session, const fattr4 *from,
		   struct nfc_attrs *attrs);

#endif
