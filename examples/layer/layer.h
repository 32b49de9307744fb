/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A layer that changes nothing: the objects of libfabric, each over the same object of
 * the lower provider. doc/writing-a-layer.md says what is where, and why.
 */
#ifndef EXL_LAYER_H
#define EXL_LAYER_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/compat.h>
#include <cairn/lower.h>
#include <cairn/nosys.h>
#include <cairn/pass.h>

/* The tests build it under a second name too, to put one on top of the other. */
#ifndef EXL_NAME
#define EXL_NAME "example_layer"
#endif
#define EXL_VERSION FI_VERSION(0, 1)

/* The fabric is a struct crn_lower_fabric as it is, an event queue a crn_lower_eq. */

struct exl_domain {
	struct fid_domain fid;
	struct fid_domain *lower;
	struct crn_lower_fabric *fabric;
	_Atomic unsigned int refs; /* endpoints and receive contexts */
};

/* An endpoint, or a shared receive context. */
struct exl_ep {
	struct crn_pass_ep pass;
	struct exl_domain *domain;
	_Atomic unsigned int refs; /* of a receive context: endpoints bound to it */
	/* refs of what this one is bound to: two queues, a receive context */
	_Atomic unsigned int *bound[3];
	unsigned int bound_count;
};

struct exl_pep {
	struct crn_pass_pep pass;
	struct crn_lower_fabric *fabric;
};

struct exl_cq {
	struct fid_cq fid;
	struct fid_cq *lower;
	_Atomic unsigned int refs; /* endpoints bound to it */
};

/* init.c */
extern struct fi_provider exl_prov;
extern char *exl_lower; /* FI_EXAMPLE_LAYER_LOWER */

/* info.c */
extern const struct crn_lower_layer exl_layer;
int exl_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);

/* One constructor a file. */
int exl_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int exl_domain(struct fid_fabric *fabric, struct fi_info *info,
	       struct fid_domain **domain, void *context);
int exl_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);
int exl_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);
int exl_srx(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **srx,
	    void *context);
int exl_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		void *context);

/* The lower provider's object of a completion queue. */
static inline fid_t exl_cq_lower(struct fid *cq)
{
	return &crn_container_of(cq, struct exl_cq, fid.fid)->lower->fid;
}

#endif
