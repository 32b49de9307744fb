/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of qp/. */
#ifndef PVB_QP_INTERNAL_H
#define PVB_QP_INTERNAL_H

#include "objects/objects.h"

/* srx.c */

/* Room in cq for all its receives: *hw is the device queue. 0 or a negative code. */
int pvb_srx_attach(struct pvb_srx *srx, struct pvb_cq *cq, struct pvb_hwcq **hw);
void pvb_srx_detach(struct pvb_srx *srx, struct pvb_cq *cq);

/* srx_recv.c */

void pvb_srx_msg_init(struct pvb_srx *srx);
/* A free slot or NULL. Called with the lock held. */
struct pvb_slot *pvb_srx_get(struct pvb_srx *srx);

#endif
