/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of the pverbs provider offer each other; the file that implements a
 * function is named above its group. Fewer share cm.h, cq.h and tx.h.
 */
#ifndef PVB_PVERBS_H
#define PVB_PVERBS_H

#include "objects.h"

/* device.c: where verbs devices and their addresses come from. */

/* One address that rdma_cm can use, with the device and port behind it. */
struct pvb_device_addr {
	char device[IBV_SYSFS_NAME_MAX];
	uint8_t port;
	union crn_addr addr; /* port number 0 */
	struct ibv_device_attr attr;
	struct ibv_port_attr port_attr;
	uint64_t subnet_prefix; /* of GID 0, host byte order */
	bool iwarp;
};

/*
 * Every usable address, in the order fi_getinfo lists them: by device, IPv4 before
 * IPv6, link-local last. *list is to be freed. -FI_ENODATA when there is none.
 */
int pvb_device_addrs(struct pvb_device_addr **list, size_t *count);
/* Opens a device by name: a context of its own. -FI_ENODEV, or what ibv_open_device
 * gives. */
int pvb_device_open(const char *name, struct ibv_context **verbs);

/* nic.c: info->nic of an address, or NULL: out of memory. */
struct fid_nic *pvb_nic(const struct pvb_device_addr *entry);

/* info.c */
int pvb_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);
/* The info of a request that arrived at src: of the device behind it, with pep's wishes.
 */
int pvb_info_connreq(const struct fi_info *pep, const char *device,
		     const struct sockaddr *src, const struct sockaddr *peer,
		     struct fi_info **info);

/* fabric.c, domain.c, mr.c, eq.c, cq.c, pep.c, ep.c: the libfabric objects. */
int pvb_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);
int pvb_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);
/* Is this a child of fork, and the object its parent's? Of it nothing may be touched: the
 * device's part is shared, and threads are not there. fi_close then does nothing. */
bool pvb_inherited(const struct pvb_fabric *fabric);
int pvb_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);
int pvb_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		void *context);
int pvb_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);
int pvb_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);
extern struct fi_ops_mr pvb_mr_ops;
int pvb_cq_trywait(struct pvb_cq *cq);
int pvb_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr, void *context);

/* cntr.c */

/* From now on wq's completions feed its counters. 0 or a negative code: then none. */
int pvb_cntr_attach(struct pvb_wq *wq);
void pvb_cntr_detach(struct pvb_wq *wq);
/* Threads that wait look again: a counter has a device queue more. */
void pvb_cntr_wake(struct pvb_wq *wq);

/* sink.c: where a domain with atomics puts what nobody wants to know. */
int pvb_sink_open(struct pvb_domain *domain);
void pvb_sink_close(struct pvb_domain *domain);

/* srx.c */
int pvb_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep,
		 void *context);
/* Room in cq for all its receives: *hw is the device queue. 0 or a negative code. */
int pvb_srx_attach(struct pvb_srx *srx, struct pvb_cq *cq, struct pvb_hwcq **hw);
void pvb_srx_detach(struct pvb_srx *srx, struct pvb_cq *cq);
/* The queue pair is in ERR: takes what it received out of the device, until it is sure
 * that nothing more comes or the deadline (crn_now_ms) has passed. */
void pvb_srx_drain(struct pvb_ep *ep, uint64_t deadline_ms);

/* persist/ring.c: what a wq has for that; it may have nothing. */
void pvb_bufs_close(struct pvb_wq *wq);
/* persist/ring.c: where the receive in slot goes, of a wq with bufs. 0, or -FI_EINVAL:
 * that is not where the endpoint's receives have to be. */
int pvb_bufs_note(struct pvb_wq *wq, const struct pvb_slot *slot,
		  const struct ibv_recv_wr *wr);

/* srx_recv.c */
void pvb_srx_msg_init(struct pvb_srx *srx);
/* From now on nothing can be posted: -FI_ENODEV. Any thread. */
void pvb_srx_msg_end(struct pvb_srx *srx);
/* A slot may be posted again. Any thread. */
void pvb_srx_put(struct pvb_srx *srx, struct pvb_slot *slot);
/* A free slot or NULL. Called with the lock held. */
struct pvb_slot *pvb_srx_get(struct pvb_srx *srx);

/* async.c */

/* Asynchronous events of the device must not block who looks for them. */
int pvb_async_init(struct ibv_context *verbs);
/* Handles those there are. */
void pvb_async_progress(struct pvb_domain *domain);

/* cq.c */

/* Gives the queue a channel although its own wait object needs none. 0 or a negative
 * code. */
int pvb_cq_need_channel(struct pvb_cq *cq);
/* Takes what the device queues have into the stash, as far as it has room. With arm, what
 * comes later raises an event on the channel. 0 or a negative code. */
int pvb_cq_feed(struct pvb_cq *cq, bool arm);

/* ep_bind.c */
int pvb_ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
/* wq completes into cq. */
void pvb_ep_attach(struct pvb_wq *wq, struct pvb_cq *cq);
void pvb_ep_detach(struct pvb_wq *wq);

/* cq_hw.c */

/*
 * Makes room for slots more completions: *hw is the device queue to attach a queue pair
 * to, counted until pvb_cq_release. -FI_ENOMEM, -FI_EINVAL when slots exceed the device.
 */
int pvb_cq_reserve(struct pvb_cq *cq, uint32_t slots, struct pvb_hwcq **hw);
void pvb_cq_release(struct pvb_cq *cq, struct pvb_hwcq *hw, uint32_t slots);
/*
 * Receives that wq's queue pair takes from a shared queue have wq's counters and
 * selective completion. 0 or -FI_ENOMEM.
 */
int pvb_cq_share(struct pvb_cq *cq, uint32_t qp_num, struct pvb_wq *wq);
void pvb_cq_unshare(struct pvb_cq *cq, uint32_t qp_num);
/* Makes sure that a drain of everything in flight fits the stash: 0 or -FI_ENOMEM. */
int pvb_cq_prepare_drain(struct pvb_cq *cq);
/*
 * Takes every completion of wq, whose queue pair is in ERR, out of the device into the
 * stash until the ring is empty or the deadline (crn_now_ms) has passed; what is left is
 * reported as cancelled. After pvb_cq_prepare_drain and, for a send queue, pvb_tx_close.
 */
void pvb_cq_drain(struct pvb_cq *cq, struct pvb_wq *wq, uint64_t deadline_ms);
/* Reports every slot of wq that has flags as cancelled. */
void pvb_cq_cancel(struct pvb_cq *cq, struct pvb_wq *wq);
/* Takes what the device has now, whosever it is, into the stash. */
void pvb_cq_drain_present(struct pvb_cq *cq);
/*
 * The newest count operations of wq, accepted but refused by the device now, end with err
 * (positive FI_E*) and prov_errno in the completion queue; their slots are free again.
 */
void pvb_cq_fail(struct pvb_wq *wq, uint32_t count, int err, int prov_errno);
/*
 * The same of one operation whose first entries, so many, are posted already, and are
 * nobody's from now on. op: its context and flags.
 */
void pvb_cq_fail_begun(struct pvb_wq *wq, uint32_t begun, const struct pvb_slot *op,
		       int err, int prov_errno);

/* deliver.c: FI_DELIVERY_COMPLETE. */

/* The words of a domain that has its protection domain. 0 or a negative code. */
int pvb_deliver_open(struct pvb_domain *domain);
void pvb_deliver_close(struct pvb_domain *domain);
/* What peers are told. */
struct pvb_cm_word pvb_deliver_word(const struct pvb_domain *domain);
/* Where eight bytes go that nobody wants to know. */
struct ibv_sge pvb_deliver_sink(const struct pvb_domain *domain);

/* mr.c: says in the log why memory was not registered (err: errno), and what helps. */
void pvb_mr_explain(int err, const void *buf, size_t len);

/* tx.c: makes the completion of everything posted so far sure to arrive, the queue pair
 * being in ERR. */
void pvb_tx_close(struct pvb_ep *ep);

/* Asks the peer for an acknowledgement, if nothing is in flight: false when there is. */
bool pvb_tx_keepalive(struct pvb_ep *ep);

/* keepalive.c: all but open and close with cm_lock held. */
int pvb_keepalive_open(struct pvb_eq *eq);
void pvb_keepalive_close(struct pvb_eq *eq);
void pvb_keepalive_add(struct pvb_ep *ep);
void pvb_keepalive_del(struct pvb_ep *ep);
void pvb_keepalive_progress(struct pvb_eq *eq);

/* path.c: what the user asks of the path between two queue pairs. */

/* Is the address of an id that was bound one that the user wants? */
bool pvb_path_wanted(const struct rdma_cm_id *id);
/* Before a requester resolves: what the kernel needs to know. */
void pvb_path_option(const struct pvb_ep *ep, struct rdma_cm_id *id);
/* Into what rdma_cm would have for a transition, whose fields mask names. */
void pvb_path_attr(struct ibv_qp_attr *attr, int mask);
/* 0, or -FI_EHOSTUNREACH when the path is not what the user insists on. */
int pvb_path_check(const struct pvb_ep *ep, const struct ibv_qp_attr *attr, int mask);

/* conn_qp.c: the queue pair of a connection. */
int pvb_conn_create_qp(struct pvb_ep *ep);
void pvb_conn_destroy_qp(struct pvb_ep *ep);
/* INIT with the port and P_Key of the id's path (or the domain's first when id is NULL),
 * then RTR and RTS. */
int pvb_conn_init(struct pvb_ep *ep, struct rdma_cm_id *id);
int pvb_conn_rtr_rts(struct pvb_ep *ep, uint8_t responder_resources,
		     uint8_t initiator_depth);
/* Operations may be posted to one of its queues. */
void pvb_conn_open_ring(struct pvb_wq *wq);
/* To ERR: everything posted flushes; posting is refused from here on. */
void pvb_conn_error(struct pvb_ep *ep);

/* cm_channel.c: handles every waiting rdma_cm event; takes cm_lock. */
int pvb_cm_progress(struct crn_eq *eq);
/* The same on behalf of a program that reads another queue; not while somebody else does.
 */
void pvb_cm_look(struct pvb_eq *eq);
/* The rest of connection management is called with cm_lock held. */
/* Ends the request (the peer sees a refusal) and its id. */
void pvb_connreq_destroy(struct pvb_connreq *req);

/* cm_state.c */
int pvb_cm_connect(struct pvb_ep *ep, const struct sockaddr *dest, const void *param,
		   size_t len);
int pvb_cm_accept(struct pvb_ep *ep, const void *param, size_t len);
int pvb_cm_shutdown(struct pvb_ep *ep);

/* cm_opt.c */

/* Bytes of connection data that an application may give: FI_OPT_CM_DATA_SIZE. */
size_t pvb_cm_data_size(bool raw);
int pvb_cm_getopt(bool raw, int level, int optname, void *optval, size_t *optlen);
int pvb_cm_setopt(bool *raw, int level, int optname, const void *optval, size_t optlen);
/* fi_setname: 0, -FI_EINVAL for no address of the info's format, -FI_ENOMEM. */
int pvb_set_src(struct fi_info *info, const void *addr, size_t len);

/* stats.c: fi_open_ops of endpoints. */
int pvb_stats_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		   void *context);
/* One line for who wants to know. */
void pvb_stats_log(struct pvb_ep *ep);

/* fence.c: is the device one whose own fences are not to be used? */
bool pvb_fence_waits(struct ibv_context *verbs);
/* Has a read or atomic of the program's not ended yet? */
bool pvb_fence_reads(struct pvb_conn *conn);

/* ep.c: to be called when what calls without flags ask for has changed. */
void pvb_ep_defaults(struct pvb_ep *ep);

/* ep_opt.c */
int pvb_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen);
int pvb_ep_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen);

/* ep_cm.c: fi_ops_cm of endpoints. */
extern struct fi_ops_cm pvb_ep_cm_ops;

/* msg.c, rma.c, atomic.c: fi_ops of the data path. */
extern struct fi_ops_msg pvb_msg_ops;
extern struct fi_ops_rma pvb_rma_ops;
extern struct fi_ops_atomic pvb_atomic_ops;

/* atomic_query.c: can a device do atomics that a program may rely on? */
bool pvb_atomic_device(const struct ibv_device_attr *attr, bool iwarp);
int pvb_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);

/* errmap.c */

/* FI_E* code (positive) for a work completion status. sent: it belongs to the send queue.
 */
int pvb_wc_error(enum ibv_wc_status status, bool sent);
/*
 * FI_E* code (positive) for a refused post; err is what ibv_post_* returns, which may be
 * an errno that fi_errno(3) does not know. For operations that were accepted before.
 */
int pvb_refused_error(int err);
/* The same, negative, for the call itself: what is full now is -FI_EAGAIN. */
int pvb_post_error(int err);
/* What a call that failed with errno, or without setting it, returns. */
int pvb_errno(void);

/*
 * The slot at this position. What never changes in it is written here all the same: so
 * the slots of a deep queue take memory when they are used, not before.
 */
static inline struct pvb_slot *pvb_wq_slot_at(struct pvb_wq *wq, uint32_t at)
{
	struct pvb_slot *slot = &wq->slots[crn_ring_index(&wq->ring, at)];

	slot->wq = wq;
	slot->next = at + 1;
	return slot;
}

/* The slot that is filled next, or the one ahead places behind it. */
static inline struct pvb_slot *pvb_wq_slot(struct pvb_wq *wq, uint32_t ahead)
{
	return pvb_wq_slot_at(wq, wq->ring.head + ahead);
}

/* Queue entries that an operation with these op_flags takes. */
static inline uint32_t pvb_tx_entries(uint64_t op_flags)
{
	/* persist/plan.h: what lets the target know, the operation, and what flushes it.
	 */
	if (op_flags & FI_COMMIT_COMPLETE)
		return 4;
	return op_flags & FI_DELIVERY_COMPLETE ? 2 : 1;
}

/* The device's name, which is the domain's. */
static inline const char *pvb_domain_device(const struct pvb_domain *domain)
{
	return ibv_get_device_name(domain->verbs->device);
}

static inline struct pvb_ep *pvb_ep_from(struct fid *fid)
{
	return crn_container_of(fid, struct pvb_ep, fid.fid);
}

static inline struct pvb_ep *pvb_ep_of(struct fid_ep *fid)
{
	return crn_container_of(fid, struct pvb_ep, fid);
}

static inline struct pvb_ep *pvb_conn_ep(struct pvb_conn *conn)
{
	return crn_container_of(conn, struct pvb_ep, conn);
}

static inline struct pvb_eq *pvb_eq_of(struct crn_eq *eq)
{
	return crn_container_of(eq, struct pvb_eq, eq);
}

#endif
