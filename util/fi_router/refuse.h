/* SPDX-License-Identifier: BSD-2-Clause */
/* In the place of transit: no connection is passed on. */
#ifndef FRT_REFUSE_H
#define FRT_REFUSE_H

#include "node.h"

extern const struct frt_transit_ops frt_refuse_ops;

#endif
