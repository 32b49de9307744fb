/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: the object, what is bound to it, its options and statistics. */
#ifndef PVB_EP_EP_H
#define PVB_EP_EP_H

#include "objects/objects.h"

/* ep.c */

int pvb_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);

#endif
