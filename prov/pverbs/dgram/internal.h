/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of dgram/. */
#ifndef PVB_DGRAM_INTERNAL_H
#define PVB_DGRAM_INTERNAL_H

#include "dgram.h"

/* ah.c */

int pvb_ahs_init(struct pvb_ahs *ahs);
/* No send is outstanding any more. */
void pvb_ahs_fini(struct pvb_ahs *ahs);
/*
 * A peer at this address, by an address handle that all peers of that port share; counted
 * until pvb_ah_put. 0, -FI_ENOMEM, or the device's reason: -FI_EINVAL, -FI_EHOSTUNREACH.
 * Any thread.
 */
int pvb_ah_get(struct pvb_domain *domain, const struct pvb_ud_addr *addr,
	       struct pvb_ud_peer *peer);

/* path.c */

/* As pvb_ud_path_find, of one port alone. */
int pvb_ud_path_port(struct ibv_context *verbs, uint8_t number,
		     const struct pvb_ud_addr *src, struct pvb_ud_path *path);

/* qkey.c */

/*
 * Asks subnet administration for the Q_Key of the link that ud is on, and waits for the
 * answer, two seconds at most. *qkey stays as it is where libibumad may not open the
 * port, there is no such link, or no answer arrives. 0, or a shortage (pvb_is_shortage).
 */
int pvb_ud_link_qkey(const struct pvb_domain *domain, const struct pvb_ud_domain *ud,
		     uint32_t *qkey);

/* complete.c */

/* pvb_wq.on_complete of what a datagram endpoint receives. */
bool pvb_dgram_received(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
			struct pvb_comp *comp);

#endif
