/* SPDX-License-Identifier: BSD-2-Clause */
/* The log's file, mapped. Failures are said on stderr. */
#ifndef RLG_MEDIUM_H
#define RLG_MEDIUM_H

#include "format.h"

struct rlg_medium {
	uint8_t *at;
	size_t size;
	int fd;
	bool direct; /* stores reach persistent memory without msync(2) */
};

/* Makes a file of create bytes if there is none and create is not 0, or takes so many of
 * a device. 0 or -1. */
int rlg_medium_open(struct rlg_medium *medium, const char *path, uint64_t create,
		    bool writes);
void rlg_medium_close(struct rlg_medium *medium);
/* What this process, or its device, stored there is durable when it returns. */
void rlg_medium_persist(struct rlg_medium *medium, size_t at, size_t len);

#endif
