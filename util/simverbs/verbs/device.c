/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "verbs.h"

/* They live as long as the process: a program may keep a pointer beyond its list. */
static struct svb_device svb_devices[SVB_MAX_DEVICES];

static void svb_device_init(struct svb_device *device, uint32_t index)
{
	struct ibv_device *ibv = &device->ibv;
	bool iwarp = svb_self.settings.link == SVB_LINK_IWARP;

	device->index = index;
	ibv->node_type = iwarp ? IBV_NODE_RNIC : IBV_NODE_CA;
	ibv->transport_type = iwarp ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
	snprintf(ibv->name, sizeof(ibv->name), "%.63s",
		 svb_self.settings.device[index].name);
	snprintf(ibv->dev_name, sizeof(ibv->dev_name), "uverbs%u", index);
	snprintf(ibv->dev_path, sizeof(ibv->dev_path),
		 "/sys/class/infiniband_verbs/uverbs%u", index);
	snprintf(ibv->ibdev_path, sizeof(ibv->ibdev_path), "/sys/class/infiniband/%.63s",
		 svb_self.settings.device[index].name);
}

int svb_devices_make(void)
{
	uint32_t i;

	for (i = 0; i < svb_self.settings.devices; i++)
		svb_device_init(&svb_devices[i], i);
	return 0;
}

SVB_API struct ibv_device **ibv_get_device_list(int *num_devices)
{
	struct ibv_device **list;
	uint32_t i, count = 0;
	int ret = svb_join();

	if (num_devices)
		*num_devices = 0;
	if (ret) {
		errno = ret;
		return NULL;
	}
	list = calloc(svb_self.settings.devices + 1, sizeof(*list));
	if (!list)
		return NULL;
	for (i = 0; i < svb_self.settings.devices; i++)
		if (!svb_removed(i))
			list[count++] = &svb_devices[i].ibv;
	if (num_devices)
		*num_devices = (int)count;
	return list;
}

SVB_API void ibv_free_device_list(struct ibv_device **list)
{
	free(list);
}

SVB_API const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

SVB_API int ibv_get_device_index(struct ibv_device *device)
{
	return (int)((struct svb_device *)device)->index;
}

SVB_API __be64 ibv_get_device_guid(struct ibv_device *device)
{
	return htobe64(
		svb_self.settings.device[((struct svb_device *)device)->index].guid);
}

static int svb_bind_mw_type1(struct ibv_qp *qp, struct ibv_mw *mw,
			     struct ibv_mw_bind *bind)
{
	return EOPNOTSUPP;
}

static void svb_context_ops(struct svb_context *ctx)
{
	struct verbs_context *vctx = &ctx->vctx;
	struct ibv_context_ops *ops = &vctx->context.ops;

	ops->poll_cq = svb_poll_cq;
	ops->req_notify_cq = svb_req_notify_cq;
	ops->post_send = svb_post_send;
	ops->post_recv = svb_post_recv;
	ops->post_srq_recv = svb_post_srq_recv;
	ops->alloc_mw = svb_alloc_mw;
	ops->bind_mw = svb_bind_mw_type1;
	ops->dealloc_mw = svb_dealloc_mw;
	vctx->query_port = svb_query_port;
	vctx->query_device_ex = svb_query_device_ex;
	vctx->query_rt_values = svb_query_rt_values;
	vctx->create_cq_ex = svb_create_cq_ex;
	vctx->create_qp_ex = svb_create_qp_ex;
	vctx->alloc_td = svb_alloc_td;
	vctx->dealloc_td = svb_dealloc_td;
	vctx->alloc_parent_domain = svb_alloc_parent_domain;
}

SVB_API struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct svb_context *ctx;
	struct ibv_context *ibv;
	int ret = svb_join();

	if (!ret && svb_removed(((struct svb_device *)device)->index))
		ret = ENODEV;
	if (!ret)
		ret = svb_removal_watch();
	if (!ret)
		ret = svb_port_event_watch();
	if (ret) {
		errno = ret;
		return NULL;
	}
	ctx = calloc(1, sizeof(*ctx));
	if (!ctx)
		return NULL;
	ibv = &ctx->vctx.context;
	ctx->device = (struct svb_device *)device;
	ctx->vctx.sz = sizeof(ctx->vctx);
	ibv->device = device;
	ibv->abi_compat = __VERBS_ABI_IS_EXTENDED;
	ibv->num_comp_vectors = (int)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_mutex_init(&ibv->mutex, NULL);
	svb_context_ops(ctx);
	ibv->async_fd = svb_bell_open(0, &ctx->bell);
	/* Nothing is behind it, but programs pass it around. */
	ibv->cmd_fd = ibv->async_fd < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
	if (ibv->cmd_fd < 0) {
		ret = errno;
		if (ibv->async_fd >= 0)
			svb_bell_close(ibv->async_fd, ctx->bell);
		free(ctx);
		errno = ret;
		return NULL;
	}
	pthread_mutex_lock(&svb_self.mutex);
	crn_list_add_tail(&svb_self.contexts, &ctx->entry);
	pthread_mutex_unlock(&svb_self.mutex);
	return ibv;
}

SVB_API int ibv_close_device(struct ibv_context *ibv)
{
	struct svb_context *ctx = svb_context(ibv);

	pthread_mutex_lock(&svb_self.mutex);
	crn_list_del(&ctx->entry);
	pthread_mutex_unlock(&svb_self.mutex);
	svb_bell_close(ibv->async_fd, ctx->bell);
	close(ibv->cmd_fd);
	pthread_mutex_destroy(&ibv->mutex);
	free(ctx);
	return 0;
}
