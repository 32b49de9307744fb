/* SPDX-License-Identifier: BSD-2-Clause */
/* What tests ask of any object that has a wait object. */
#ifndef CT_FID_H
#define CT_FID_H

#include <stdbool.h>
#include <rdma/fabric.h>

/* The descriptor that FI_GETWAIT gives is readable now. */
bool ct_readable(struct fid *fid);

#endif
