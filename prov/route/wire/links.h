/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of an LSA's links. */
#ifndef RTE_LINKS_H
#define RTE_LINKS_H

#include "wire.h"

/* Bytes of the list; -FI_EINVAL: something in it is beyond the bounds. */
ssize_t rte_links_len(const struct rte_lsa *lsa);
/* The same, packed; -FI_ETOOSMALL as well. */
ssize_t rte_links_pack(const struct rte_lsa *lsa, void *buf, size_t size);

#endif
