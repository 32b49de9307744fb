/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints: the object, what is bound to it, options, operations. */
#ifndef RTE_EP_H
#define RTE_EP_H

#include "objects.h"

/* opt.c */
extern struct fi_ops_ep rte_ep_opts;
extern struct fi_ops_ep rte_pep_opts;

/* msg.c, rma.c: the program's calls, as those of the data path. */
extern struct fi_ops_msg rte_ep_msg;
extern struct fi_ops_rma rte_ep_rma;

#endif
