/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of device/. */
#ifndef PVB_DEVICE_INTERNAL_H
#define PVB_DEVICE_INTERNAL_H

#include "pverbs.h"

/* address.c */

/* Is the address of an id that was bound one that the user wants? */
bool pvb_path_wanted(const struct rdma_cm_id *id);

#endif
