/* SPDX-License-Identifier: BSD-2-Clause */
/* libibverbs on the engine: what its files, and the connection manager, call. */
#ifndef SVB_VERBS_VERBS_H
#define SVB_VERBS_VERBS_H

#include "engine/engine.h"
#include "handles.h"
#include "port_event.h"
#include "removal.h"
#include "request.h"
#include "settings/settings.h"
#include "shared/shared.h"

/* Room for entries of a ring of stride bytes each; counts are powers of two. */
uint32_t svb_ring_count(uint32_t entries);

/*
 * svb_cq_push in pieces, for a completion of this process that succeeded in a queue that
 * needs nothing special: true when it is locked and has room for *cqe.
 */
SVB_INLINE bool svb_cq_begin(struct svb_seg *seg, struct svb_cq_sh *cq,
			     struct svb_cqe **cqe)
{
	if (svb_unlikely(!svb_trylock(&cq->lock)))
		return false;
	*cqe = (struct svb_cqe *)svb_seg_at(seg, cq->ring) + (cq->tail & cq->mask);
	if (svb_likely(!(cq->armed | cq->flags) &&
		       cq->tail - __atomic_load_n(&cq->head, __ATOMIC_ACQUIRE) <
			       cq->limit))
		return true;
	svb_unlock(&cq->lock);
	return false;
}

SVB_INLINE void svb_cq_end(struct svb_cq_sh *cq)
{
	__atomic_store_n(&cq->tail, cq->tail + 1, __ATOMIC_RELEASE);
	svb_unlock(&cq->lock);
}

/* Removes what a queue pair left in a completion queue of this process. */
void svb_cq_clean(struct svb_cq *cq, uint32_t qpn);

/*
 * verbs/channel.c, verbs/async.c: an object is not destroyed before every event that was
 * read of it is acknowledged (ibv_ack_cq_events(3)). lock, cond: of the object.
 */
void svb_wait_acked(pthread_mutex_t *lock, pthread_cond_t *cond, const uint32_t *acked,
		    const uint32_t *given);

/* verbs/async.c: svb_async_raise for a port of a context of this process. */
void svb_async_port(struct svb_context *ctx, uint32_t port, enum ibv_event_type type);

/* verbs/qp_state.c: whether a transition with this mask is allowed (kernel:
 * ib_modify_qp_is_ok). */
bool svb_qp_modify_ok(enum ibv_qp_state from, enum ibv_qp_state to, enum ibv_qp_type type,
		      int mask);

/* verbs/qp_state.c: the state of a queue pair that was just made or reset. An RNIC knows
 * one idle state, which drivers (siw, cxgb4) report as INIT: it takes receives. */
enum ibv_qp_state svb_qp_idle(void);

/* verbs/wr_ex.c: fills the function table of an extended queue pair. Returns 0 or
 * EOPNOTSUPP.
 */
int svb_wr_ex_init(struct svb_qp *qp, uint64_t ops);

/* verbs/wr_post.c */
/* Which operations a queue pair of a type takes: 1 << enum ibv_wr_opcode. */
uint32_t svb_qp_opcodes(enum ibv_qp_type type);
int svb_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int svb_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
int svb_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
		      struct ibv_recv_wr **bad);

/* verbs/cq.c, verbs/cq_ex.c */
int svb_poll_cq(struct ibv_cq *cq, int count, struct ibv_wc *wc);
int svb_req_notify_cq(struct ibv_cq *cq, int solicited_only);
struct ibv_cq_ex *svb_create_cq_ex(struct ibv_context *ctx,
				   struct ibv_cq_init_attr_ex *attr);
void svb_cq_ex_init(struct svb_cq *cq, uint64_t wc_flags);
int svb_cq_start_poll(struct ibv_cq_ex *ex, struct ibv_poll_cq_attr *attr);
int svb_cq_next_poll(struct ibv_cq_ex *ex);
void svb_cq_end_poll(struct ibv_cq_ex *ex);

/* verbs/qp.c */
int svb_rq_alloc(struct svb_rq *rq, uint32_t entries, uint32_t sges, uint64_t *size);
struct ibv_qp *svb_create_qp_ex(struct ibv_context *ctx,
				struct ibv_qp_init_attr_ex *attr);

/* verbs/qp_modify.c: ibv_modify_qp, also for what only the connection manager may do. */
int svb_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);

/* Tells peers where it is and it where its peer is, after attributes or the state of its
 * port have changed. */
void svb_qp_place(struct svb_qp *qp);

/* verbs/mcast.c: what queue pairs of the port are attached to reaches them no more, until
 * they are attached again. */
void svb_mcast_lose(const struct svb_port *port);

/* verbs/mw.c */
struct ibv_mw *svb_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int svb_dealloc_mw(struct ibv_mw *mw);

/* verbs/mapped.c: may every byte of it be read, and written if it is to be? Also true
 * where nobody can tell. */
bool svb_mapped(const void *addr, size_t length, bool writable);
/* Of a child of fork. */
void svb_mapped_forget(void);

/* verbs/pd.c: objects of a domain keep it from being freed. */
static inline void svb_pd_hold(struct ibv_pd *pd)
{
	__atomic_add_fetch(&((struct svb_pd *)pd)->users, 1, __ATOMIC_RELAXED);
}

static inline void svb_pd_drop(struct ibv_pd *pd)
{
	__atomic_sub_fetch(&((struct svb_pd *)pd)->users, 1, __ATOMIC_RELAXED);
}

struct ibv_td *svb_alloc_td(struct ibv_context *ctx, struct ibv_td_init_attr *attr);
int svb_dealloc_td(struct ibv_td *td);
struct ibv_pd *svb_alloc_parent_domain(struct ibv_context *ctx,
				       struct ibv_parent_domain_init_attr *attr);

/* verbs/device.c: makes the devices that the settings name. Returns 0. */
int svb_devices_make(void);

/* verbs/device_attr.c */
int svb_query_device_ex(struct ibv_context *ctx,
			const struct ibv_query_device_ex_input *input,
			struct ibv_device_attr_ex *attr, size_t size);
int svb_query_port(struct ibv_context *ctx, uint8_t port, struct ibv_port_attr *attr,
		   size_t size);
int svb_query_rt_values(struct ibv_context *ctx, struct ibv_values_ex *values);
/* Settings of the device of a context, and of one of its ports (1...), NULL: none such.
 */
const struct svb_device_settings *svb_device_of(struct ibv_context *ctx);
const struct svb_port *svb_port_of(struct ibv_context *ctx, uint32_t port);

#endif
