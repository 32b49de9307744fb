/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other exports of libibverbs: features that this device does not have, and
 * helpers.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "verbs.h"

SVB_API struct ibv_context *ibv_import_device(int cmd_fd)
{
	errno = EOPNOTSUPP;
	return NULL;
}

SVB_API struct ibv_pd *ibv_import_pd(struct ibv_context *ctx, uint32_t handle)
{
	errno = EOPNOTSUPP;
	return NULL;
}

SVB_API void ibv_unimport_pd(struct ibv_pd *pd)
{
}

SVB_API struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t handle)
{
	errno = EOPNOTSUPP;
	return NULL;
}

SVB_API void ibv_unimport_mr(struct ibv_mr *mr)
{
}

SVB_API struct ibv_dm *ibv_import_dm(struct ibv_context *ctx, uint32_t handle)
{
	errno = EOPNOTSUPP;
	return NULL;
}

SVB_API void ibv_unimport_dm(struct ibv_dm *dm)
{
}

SVB_API struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset,
					 size_t length, uint64_t iova, int fd, int access)
{
	errno = EOPNOTSUPP;
	return NULL;
}

/* DMA handles, and device memory as a DMA-buf. */
SVB_API struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *ctx,
					struct ibv_dmah_init_attr *attr)
{
	errno = EOPNOTSUPP;
	return NULL;
}

SVB_API int ibv_dealloc_dmah(struct ibv_dmah *dmah)
{
	return EOPNOTSUPP;
}

SVB_API int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm)
{
	errno = EOPNOTSUPP;
	return -1;
}

/* Completion counters: ibv_create_comp_cntr(3) has ENOTSUP for it, the same number. */
SVB_API int _ibv_query_comp_cntr_caps(struct ibv_context *ctx,
				      struct ibv_comp_cntr_caps *caps, size_t size)
{
	memset(caps, 0, size);
	return EOPNOTSUPP;
}

SVB_API struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *ctx,
						   struct ibv_comp_cntr_init_attr *attr)
{
	errno = EOPNOTSUPP;
	return NULL;
}

#define SVB_NO_COUNTER(name, ...)     \
	SVB_API int name(__VA_ARGS__) \
	{                             \
		return EOPNOTSUPP;    \
	}

SVB_NO_COUNTER(ibv_destroy_comp_cntr, struct ibv_comp_cntr *cntr)
SVB_NO_COUNTER(ibv_set_comp_cntr, struct ibv_comp_cntr *cntr, uint64_t value)
SVB_NO_COUNTER(ibv_set_err_comp_cntr, struct ibv_comp_cntr *cntr, uint64_t value)
SVB_NO_COUNTER(ibv_inc_comp_cntr, struct ibv_comp_cntr *cntr, uint64_t amount)
SVB_NO_COUNTER(ibv_inc_err_comp_cntr, struct ibv_comp_cntr *cntr, uint64_t amount)
SVB_NO_COUNTER(ibv_read_comp_cntr, struct ibv_comp_cntr *cntr, uint64_t *value)
SVB_NO_COUNTER(ibv_read_err_comp_cntr, struct ibv_comp_cntr *cntr, uint64_t *value)
SVB_NO_COUNTER(ibv_qp_attach_comp_cntr, struct ibv_qp *qp, struct ibv_comp_cntr *cntr,
	       struct ibv_qp_attach_comp_cntr_attr *attr)

SVB_API int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}

SVB_API int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	return EOPNOTSUPP;
}

/* Registered memory is not pinned, so a fork changes nothing for the parent. */
SVB_API int ibv_fork_init(void)
{
	return 0;
}

SVB_API enum ibv_fork_status ibv_is_fork_initialized(void)
{
	return IBV_FORK_UNNEEDED;
}

int ibv_dontfork_range(void *base, size_t size);
SVB_API int ibv_dontfork_range(void *base, size_t size)
{
	return 0;
}

int ibv_dofork_range(void *base, size_t size);
SVB_API int ibv_dofork_range(void *base, size_t size)
{
	return 0;
}

const char *ibv_get_sysfs_path(void);
SVB_API const char *ibv_get_sysfs_path(void)
{
	return "/sys";
}

/* Bytes read, without the line's end; -1 with errno. */
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
SVB_API int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	char path[512];
	ssize_t len;
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	len = read(fd, buf, size);
	close(fd);
	if (len > 0 && buf[len - 1] == '\n')
		buf[--len] = '\0';
	else if (len >= 0 && (size_t)len < size)
		buf[len] = '\0';
	return (int)len;
}

/* Drivers of real devices have nothing to say here. */
void ibv_register_driver(const char *name, void *init);
SVB_API void ibv_register_driver(const char *name, void *init)
{
}
