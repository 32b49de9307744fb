/* SPDX-License-Identifier: BSD-2-Clause */
/* The network interface behind a fi_info (fi_nic(3)): memory of libfabric's structures.
 */
#ifndef CRN_NIC_H
#define CRN_NIC_H

#include <rdma/fabric.h>

/*
 * An empty nic with all its attribute structures; strings are NULL and, once set, must be
 * malloc'ed: fi_close frees them, FI_DUP copies them. NULL: out of memory. It becomes the
 * info's with info->nic = nic.
 */
struct fid_nic *crn_nic_new(void);

#endif
