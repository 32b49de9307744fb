/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What rdma-core 65 has and rdma-core 56 lacks, by value, as in compat56.h: functions of
 * IBVERBS_1.15 to 1.18 and RDMACM_1.4 and 1.5. Declared here, they are also interposed in
 * a library that was built with older headers.
 */
#ifndef SVB_COMPAT65_H
#define SVB_COMPAT65_H

#include <infiniband/verbs.h>

struct epoll_event;
struct ibv_buf;
struct ibv_comp_cntr;
struct ibv_comp_cntr_caps;
struct ibv_comp_cntr_init_attr;
struct ibv_dm;
struct ibv_dmah;
struct ibv_dmah_init_attr;
struct ibv_mr_init_attr;
struct ibv_qp_attach_comp_cntr_attr;
struct rdma_addrinfo;
struct rdma_cm_id;

/* enum ibv_event_type */
#define SVB_EVENT_DEVICE_SPEED_CHANGE 20

/* enum ibv_mr_init_attr_mask */
#define SVB_REG_MR_IOVA (1ull << 0)
#define SVB_REG_MR_ADDR (1ull << 1)
#define SVB_REG_MR_FD (1ull << 2)
#define SVB_REG_MR_FD_OFFSET (1ull << 3)
#define SVB_REG_MR_DMAH (1ull << 4)
#define SVB_REG_MR_BUF (1ull << 5)

/* struct ibv_mr_init_attr */
struct svb_mr_init_attr {
	size_t length;
	int access;
	uint64_t comp_mask;
	uint64_t iova;
	void *addr;
	int fd;
	uint64_t fd_offset;
	struct ibv_dmah *dmah;
	struct ibv_buf *buf;
};

/* rdma/rdma_cma.h: enum rdma_cm_event_type, ai_flags */
#define SVB_CM_EVENT_ADDRINFO_RESOLVED 16
#define SVB_CM_EVENT_ADDRINFO_ERROR 17
#define SVB_CM_EVENT_USER 18
#define SVB_RAI_SA 0x10
#define SVB_RAI_DNS 0x20

int ibv_query_port_speed(struct ibv_context *ctx, uint32_t port, uint64_t *speed);

struct ibv_mr *ibv_reg_mr_ex(struct ibv_pd *pd, struct ibv_mr_init_attr *attr);
void *ibv_alloc_buf(struct ibv_pd *pd, size_t size, struct ibv_buf **buf);
void ibv_free_buf(struct ibv_buf *buf);
struct ibv_mr *ibv_reg_buf_mr(struct ibv_pd *pd, struct ibv_buf *buf, void *addr,
			      size_t length, int access);
int ibv_export_buf_dmabuf_fd(struct ibv_buf *buf);

struct ibv_dmah *ibv_alloc_dmah(struct ibv_context *ctx, struct ibv_dmah_init_attr *attr);
int ibv_dealloc_dmah(struct ibv_dmah *dmah);
int ibv_dm_export_dmabuf_fd(struct ibv_dm *dm);

int _ibv_query_comp_cntr_caps(struct ibv_context *ctx, struct ibv_comp_cntr_caps *caps,
			      size_t size);
struct ibv_comp_cntr *ibv_create_comp_cntr(struct ibv_context *ctx,
					   struct ibv_comp_cntr_init_attr *attr);
int ibv_destroy_comp_cntr(struct ibv_comp_cntr *cntr);
int ibv_set_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t value);
int ibv_set_err_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t value);
int ibv_inc_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t amount);
int ibv_inc_err_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t amount);
int ibv_read_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t *value);
int ibv_read_err_comp_cntr(struct ibv_comp_cntr *cntr, uint64_t *value);
int ibv_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *cntr,
			    struct ibv_qp_attach_comp_cntr_attr *attr);

int rdma_resolve_addrinfo(struct rdma_cm_id *id, const char *node, const char *service,
			  const struct rdma_addrinfo *hints);
int rdma_query_addrinfo(struct rdma_cm_id *id, struct rdma_addrinfo **info);
/* rdma_write_cm_event takes an enum of librdmacm: it is declared where that is known. */

int repoll_create(int flags);
int repoll_ctl(int epfd, int op, int fd, struct epoll_event *event);
int repoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout);

#endif
