/* SPDX-License-Identifier: BSD-2-Clause */
/* Cases of fi_cairn_msg. */
#ifndef FCT_MSG_H
#define FCT_MSG_H

#include "fct_fabric.h"

#define MSG_MAX_IOV 16

/* msg_limit.c: beyond what fi_info allows */

/* Cuts buf into at most limit uneven pieces; returns their number, at least 1. */
size_t fct_msg_pieces(struct iovec *iov, size_t limit, void *buf, size_t len);

#endif
