/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program that knows nothing of libfabric: it loads it as a plugin host loads what a
 * plugin needs, and lets go of it with everything open. Run by fi_cairn_process.
 * Usage: plugin_host PROVIDER ADDRESS
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#define DO(call)                                                               \
	do {                                                                   \
		int ret_ = (int)(call);                                        \
		if (ret_) {                                                    \
			fprintf(stderr, "plugin_host: %s: %d\n", #call, ret_); \
			return 1;                                              \
		}                                                              \
	} while (0)

typedef int (*getinfo_fn)(uint32_t version, const char *node, const char *service,
			  uint64_t flags, const struct fi_info *hints,
			  struct fi_info **info);
typedef struct fi_info *(*dupinfo_fn)(const struct fi_info *info);
typedef int (*fabric_fn)(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			 void *context);

static char memory[4096];

#ifdef __SANITIZE_ADDRESS__
/* What is left open is the point, and no leak. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
#endif

int main(int argc, char **argv)
{
	struct fi_cq_attr cq_attr = {.wait_obj = FI_WAIT_FD};
	struct fi_eq_attr eq_attr = {.wait_obj = FI_WAIT_FD};
	void *library = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
	struct fi_info *hints, *info;
	struct fi_cq_entry entry;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep;
	struct fid_eq *eq;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	int i;

	if (argc != 3 || !library) {
		fprintf(stderr, "plugin_host: %s\n",
			library ? "PROVIDER ADDRESS" : dlerror());
		return 2;
	}
	hints = ((dupinfo_fn)dlsym(library, "fi_dupinfo"))(NULL);
	hints->caps = FI_MSG | FI_RMA;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	hints->fabric_attr->prov_name = strdup(argv[1]);
	DO(((getinfo_fn)dlsym(library, "fi_getinfo"))(FI_VERSION(1, 17), argv[2], "0",
						      FI_SOURCE, hints, &info));
	DO(((fabric_fn)dlsym(library, "fi_fabric"))(info->fabric_attr, &fabric, NULL));
	DO(fi_eq_open(fabric, &eq_attr, &eq, NULL));
	DO(fi_domain(fabric, info, &domain, NULL));
	DO(fi_cq_open(domain, &cq_attr, &cq, NULL));
	DO(fi_mr_reg(domain, memory, sizeof(memory), FI_RECV, 0, 0, 0, &mr, NULL));
	DO(fi_passive_ep(fabric, info, &pep, NULL));
	DO(fi_pep_bind(pep, &eq->fid, 0));
	DO(fi_listen(pep));
	DO(fi_endpoint(domain, info, &ep, NULL));
	DO(fi_ep_bind(ep, &eq->fid, 0));
	DO(fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
	DO(fi_enable(ep));
	DO(fi_recv(ep, memory, sizeof(memory), fi_mr_desc(mr), 0, NULL));

	DO(dlclose(library));
	/* Objects that are open last until they are closed. */
	for (i = 0; i < 1000; i++) {
		if (fi_cq_read(cq, &entry, 1) != -FI_EAGAIN)
			return 3;
	}
	DO(fi_close(&ep->fid));
	DO(fi_close(&pep->fid));
	DO(fi_close(&mr->fid));
	/* The rest is open when the program ends. */
	return 0;
}
