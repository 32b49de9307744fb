/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes before a connection: the provider, its fabric, and what may be polled. */
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <errno.h>
#include "conn.h"

int crpc_info(const char *stack, const char *node, const char *service, uint64_t flags,
	      struct fi_info **info)
{
	struct fi_info *hints = fi_allocinfo();
	int ret = -FI_ENOMEM;

	if (!hints)
		return ret;
	hints->caps = FI_MSG;
	hints->ep_attr->type = FI_EP_MSG;
	hints->ep_attr->protocol = FI_PROTO_CAIRN_RPC;
	hints->domain_attr->threading = FI_THREAD_SAFE;
	hints->domain_attr->mr_mode =
		FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR;
	if (stack) {
		hints->fabric_attr->prov_name = strdup(stack);
		if (!hints->fabric_attr->prov_name)
			goto out;
	}
	ret = fi_getinfo(fi_version(), node, service, flags, hints, info);
out:
	fi_freeinfo(hints);
	return ret;
}

int crpc_fabric_open(struct fi_info *info, struct crpc_fabric **fabric)
{
	struct crpc_fabric *made = calloc(1, sizeof(*made));
	int ret;

	if (!made)
		return -FI_ENOMEM;
	made->refs = 1;
	ret = fi_fabric(info->fabric_attr, &made->fabric, NULL);
	if (ret) {
		free(made);
		return ret;
	}
	*fabric = made;
	return 0;
}

void crpc_fabric_put(struct crpc_fabric *fabric)
{
	if (__atomic_sub_fetch(&fabric->refs, 1, __ATOMIC_ACQ_REL))
		return;
	fi_close(&fabric->fabric->fid);
	free(fabric);
}

int crpc_wait_fd(struct fid *fid, int epoll, int *fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int ret;

	ret = fi_control(fid, FI_GETWAIT, fd);
	if (ret)
		return ret;
	if (!epoll_ctl(epoll, EPOLL_CTL_ADD, *fd, &event))
		return 0;
	/* Beside wrong use, which this is not: in too many others already. */
	return errno == EINVAL ? -FI_EMFILE : -errno;
}
