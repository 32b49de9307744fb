/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The file while it is not complete: FILE.part holds its first bytes, in order, and
 * FILE.part.from says of which version of the server's file they are. Functions return
 * false after saying on stderr what went wrong.
 */
#ifndef NFG_PART_H
#define NFG_PART_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "file.h"

struct nfg_part {
	const char *file;
	const char *source; /* where it comes from */
	char path[PATH_MAX], from[PATH_MAX];
	int fd;
	uint64_t have; /* bytes */
};

/* goes_on: with what is there, if it is of the same version of the same source. */
bool nfg_part_open(struct nfg_part *part, const char *file, const char *source,
		   const struct nfc_attrs *attrs, bool goes_on);
bool nfg_part_write(struct nfg_part *part, const void *bytes, size_t len);
/* It is complete: durable, and then under its name. */
bool nfg_part_finish(struct nfg_part *part);
void nfg_part_close(struct nfg_part *part);

#endif
