/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the pverbs provider and the functions its files offer each other. The
 * file that implements a function is named above its group.
 *
 * Locks, in the order they are taken:
 *   pvb_eq.cm_lock   the CM state of every connection and passive endpoint of that EQ,
 *                    and the rdma_cm event channel; always on (an EQ belongs to the
 * fabric) pvb_conn.tx_lock, rx_lock posting to one queue pair; off with FI_THREAD_DOMAIN
 *   pvb_srx.lock     posting to a shared receive context, and which queues complete it;
 *                    off with FI_THREAD_DOMAIN
 *   pvb_cntr.lock    which completion queues feed a counter; off with FI_THREAD_DOMAIN
 *   pvb_cq.lock      polling and the stash; off with FI_THREAD_DOMAIN
 * Polling never takes tx_lock or rx_lock and posting does not take pvb_cq.lock (but for a
 * device that refuses what was accepted already): they meet in the rings (cairn/ring.h).
 */
#ifndef PVB_PVERBS_H
#define PVB_PVERBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <infiniband/verbs.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <rdma/rdma_cma.h>
#include <cairn/addr.h>
#include <cairn/cntr.h>
#include <cairn/compat.h>
#include <cairn/eq.h>
#include <cairn/list.h>
#include <cairn/lock.h>
#include <cairn/ring.h>
#include <cairn/wait.h>
#include "cm_data.h"

#define PVB_NAME "pverbs"
#define PVB_VERSION FI_VERSION(0, 1)

#define PVB_WARN(subsys, ...) FI_WARN(&pvb_prov, subsys, __VA_ARGS__)
#define PVB_INFO(subsys, ...) FI_INFO(&pvb_prov, subsys, __VA_ARGS__)

/* Work completions taken from a device at a time, on the stack. */
#define PVB_POLL_BATCH 16
/* Scatter/gather entries offered at most, on the stack of a post. */
#define PVB_IOV_LIMIT 16
/* Work requests that FI_MORE holds back at most. */
#define PVB_CHAIN_LIMIT 32
/* Bytes offered for fi_inject at most; more costs every queue entry that much memory. */
#define PVB_INJECT_LIMIT 512
/* Connection requests that wait for fi_eq_read when the program names no FI_BACKLOG. */
#define PVB_BACKLOG 1024

/* op_flags (fi_endpoint(3)) of transmit and receive attributes and of calls with flags.
 */
#define PVB_TX_OP_FLAGS                                                          \
	(FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | \
	 FI_DELIVERY_COMPLETE)
#define PVB_RX_OP_FLAGS FI_COMPLETION
/* Flags of fi_recvmsg. */
#define PVB_RECV_FLAGS (FI_COMPLETION | FI_MORE)

extern struct fi_provider pvb_prov;

/* What the user may set in the environment: init.c, fi_pverbs(7). */
struct pvb_params {
	char *device;	     /* comma-separated names; NULL: every device */
	size_t tx_size;	     /* default operations in flight per endpoint */
	size_t rx_size;	     /* default posted receives per endpoint */
	size_t inject_size;  /* default bytes for fi_inject */
	int resolve_timeout; /* ms for rdma_cm to resolve an address, and a route */
	int retry_count;     /* transport retries, 0-7 */
	int rnr_retry_count; /* receiver-not-ready retries, 0-7; 7: without end */
	int close_timeout;   /* ms fi_close waits for a device to flush a queue pair */
	/* Of the path between queue pairs: path.c. */
	int gid_index; /* only addresses whose GID has it; -1: any */
	int pkey;      /* only addresses of that partition, without its top bit; 0: any */
	int roce_version;  /* 1 or 2, else the connection fails; 0: any */
	int traffic_class; /* 0-255; -1: the system's */
	int ack_timeout;   /* 0-31: 4.096 us * 2^n; -1: the system's */
	int rnr_timer;	   /* 0-31: InfiniBand's code; -1: the system's */
	int path_mtu;	   /* bytes at most; 0: what the path has */
	int keepalive;	   /* ms of silence before a peer is asked; 0: never */
	int fork_safe;	   /* a child of fork keeps away from registered memory */
};
extern struct pvb_params pvb_params;

struct pvb_fabric {
	struct fid_fabric fid;
	atomic_uint refs;
};

struct pvb_domain {
	struct fid_domain fid;
	struct pvb_fabric *fabric;
	struct fi_info *info; /* the one given to fi_domain, our copy */
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct pvb_words *words; /* deliver.c */
	struct ibv_mr *words_mr;
	bool iwarp;
	bool atomics;		/* of the device, and asked for */
	struct ibv_mr *sink_mr; /* sink.c: 8 bytes; NULL without atomics */
	/* Once a queue pair in ERR did not say that it left its shared receive queue
	 * alone.
	 */
	atomic_bool no_last_wqe;
	bool locked;	  /* anything but FI_THREAD_DOMAIN */
	atomic_uint refs; /* endpoints, queues and regions */
};

struct pvb_mr {
	struct fid_mr fid;
	struct pvb_domain *domain;
	struct ibv_mr *mr;
};

struct pvb_eq {
	struct crn_eq eq;
	struct pvb_fabric *fabric;
	pthread_mutex_t cm_lock;
	struct rdma_event_channel *channel;
	int timer;	       /* of keepalive.c; -1: off */
	struct crn_list alive; /* connected endpoints, for it */
	atomic_uint refs;
};

/* A completion in the provider's own form, until a format of the application's is filled.
 */
struct pvb_comp {
	void *context;
	uint64_t flags;
	size_t len;
	uint64_t data;
	int err;	/* FI_E*; 0: success */
	int prov_errno; /* of an error: enum ibv_wc_status, or -errno of a refused post */
};

/* One device queue behind a fi_cq; endpoints share it while its depth allows. */
struct pvb_hwcq {
	struct ibv_cq *cq;
	uint32_t depth;
	uint32_t reserved;
};

struct pvb_cq {
	struct fid_cq fid;
	struct pvb_domain *domain;
	struct crn_lock lock;
	enum fi_cq_format format;
	size_t entry_size;
	struct pvb_hwcq **hw; /* each one stays where it is: queue pairs point to it */
	uint32_t hw_count;
	uint32_t hw_next; /* where the next poll begins: none starves */
	/* Completions that may not be handed out yet: a ring, oldest at stash_head. */
	struct pvb_comp *stash;
	uint32_t stash_size; /* power of two, or 0 */
	uint32_t stash_head;
	uint32_t stash_count;
	uint32_t reserved; /* of all hw queues: what a drain may have to stash */
	size_t size_hint;  /* fi_cq_attr.size */
	/* Queue pairs with a shared receive queue of which more is to be known than that
	 * a receive completed, by number. */
	struct pvb_qp_wq *shared;
	uint32_t shared_count;
	int vector; /* completion vector: fi_cq_attr.signaling_vector */
	enum fi_cq_wait_cond wait_cond;
	/* NULL: neither the queue nor a counter fed by it has a wait object */
	struct ibv_comp_channel *channel;
	struct crn_wait wait;
	atomic_bool signaled; /* fi_cq_signal, not yet seen by a sread */
	atomic_uint refs;
};

/* A completion queue that a counter counts completions of, for so many endpoints. */
struct pvb_feed {
	struct pvb_cq *cq;
	unsigned int uses;
};

struct pvb_cntr {
	struct crn_cntr cntr;
	struct pvb_domain *domain;
	struct crn_lock lock; /* guards feeds */
	struct pvb_feed *feeds;
	size_t feed_count;
	atomic_uint refs; /* endpoints */
};

/* What a counter may count: fi_ep_bind's flags as an index. */
enum pvb_count { PVB_COUNT_MSG, PVB_COUNT_READ, PVB_COUNT_WRITE, PVB_COUNTS };

/* One posted work request, from post to retirement. wr_id is its address. */
struct pvb_slot {
	struct pvb_wq *wq;
	void *context;
	uint64_t flags; /* fi_cq flags to report | PVB_SLOT_* */
	uint32_t next;	/* position in the ring behind it */
};

#define PVB_SLOT_QUIET (1ULL << 63)  /* success is not reported */
#define PVB_SLOT_INJECT (1ULL << 62) /* nothing is reported: fi_inject has no context */
/* Of an operation that is to be delivered: the next slot ends it, unless it fails. */
#define PVB_SLOT_LED (1ULL << 61)
/* That next slot: the read that shows the delivery. It has the operation's context. */
#define PVB_SLOT_PROOF (1ULL << 60)
/* Of a shared receive: success is not reported by endpoints with selective completion. */
#define PVB_SLOT_UNASKED (1ULL << 59)
#define PVB_SLOT_FLAGS                                                      \
	(PVB_SLOT_QUIET | PVB_SLOT_INJECT | PVB_SLOT_LED | PVB_SLOT_PROOF | \
	 PVB_SLOT_UNASKED)

struct pvb_wq {
	struct crn_ring ring;
	struct pvb_slot *slots;
	struct pvb_conn *conn;
	struct pvb_cq *cq;
	uint32_t depth;	     /* size of the open ring */
	uint64_t entries;    /* ever used, when stats.c last looked */
	uint64_t stalls;     /* calls refused because the ring was full */
	bool special;	     /* counted, or srx is not NULL */
	bool counted;	     /* some cntr is not NULL */
	struct pvb_srx *srx; /* whose own queue this is: slots retire in any order */
	struct pvb_cntr *cntr[PVB_COUNTS];
};

struct pvb_qp_wq {
	uint32_t qp_num;
	struct pvb_wq *wq;
};

/* The device queue in which a shared context's receives complete, for so many endpoints.
 */
struct pvb_srx_cq {
	struct pvb_cq *cq;
	struct pvb_hwcq *hw;
	unsigned int uses;
};

/*
 * A shared receive context. Its receives complete in the order in which messages arrive
 * at different queue pairs, and in any of their completion queues; so the slots are not a
 * ring but a list.
 */
struct pvb_srx {
	struct fid_ep fid; /* FI_CLASS_SRX_CTX */
	struct fi_ops_msg msg;
	struct pvb_domain *domain;
	struct ibv_srq *srq;
	struct crn_lock lock;
	struct pvb_wq wq;		     /* cq NULL; of the ring nothing is used */
	struct pvb_slot *free;		     /* linked through context; of who posts */
	_Atomic(struct pvb_slot *) returned; /* the same; of whoever polls */
	struct pvb_srx_cq *cqs;
	size_t cq_count;
	struct pvb_cq
		*flush_cq; /* bound by the program: hears of what fi_close cancels */
	uint64_t flags;	   /* default op_flags */
	size_t iov_limit;
	atomic_uint refs; /* endpoints */
};

/* Connection states; cm_state.c has the transitions. */
enum pvb_conn_state {
	PVB_CONN_NEW,	    /* no queue pair yet */
	PVB_CONN_ENABLED,   /* queue pair in INIT: receives may be posted */
	PVB_CONN_ADDR,	    /* requester: resolving the address */
	PVB_CONN_ROUTE,	    /* requester: resolving the route */
	PVB_CONN_REQUESTED, /* requester: waiting for the answer */
	PVB_CONN_ACCEPTED,  /* responder: waiting for the requester to confirm */
	PVB_CONN_CONNECTED,
	PVB_CONN_SHUTDOWN, /* was connected; queue pair in ERR */
	PVB_CONN_FAILED,   /* was never connected; queue pair in ERR */
};

/* Work requests held back by FI_MORE, to be posted as one list. */
struct pvb_chain {
	struct ibv_send_wr wr[PVB_CHAIN_LIMIT];
	struct ibv_sge sge[PVB_CHAIN_LIMIT][PVB_IOV_LIMIT];
};

/* A reliable connection: one queue pair and its rdma_cm id. */
struct pvb_conn {
	struct ibv_qp *qp;
	struct crn_lock tx_lock;
	struct pvb_wq sq;
	uint32_t inline_size;	 /* payload the queue pair takes inline */
	uint32_t unsignaled;	 /* work requests since the last signaled one */
	uint32_t signal_every;	 /* most of them */
	uint32_t chained;	 /* entries of chain in use */
	struct pvb_chain *chain; /* NULL until FI_MORE is used */
	char *bounce; /* one buffer of inject_size per slot where inline is too small */
	struct ibv_mr *bounce_mr;
	struct crn_lock rx_lock;
	struct pvb_wq rq;
	struct pvb_hwcq *send_hw;
	struct pvb_hwcq *recv_hw;
	uint64_t keepalives;	/* posted */
	bool marked;		/* the newest in the send queue is the marker */
	struct pvb_slot marker; /* of pvb_tx_close: the ring may be full */
	bool was_up;		/* the peer may have sent something */
	atomic_bool last_wqe;	/* the device takes no more from the shared queue */

	struct rdma_cm_id *id;		   /* NULL until connecting */
	_Atomic enum pvb_conn_state state; /* written with cm_lock held */
	struct pvb_cm_data peer; /* what the peer's trailer said; no application data */
	uint8_t request_len;	 /* bytes of request_buf */
	uint8_t request_buf[PVB_CM_REQ_SIZE]; /* sent once the route is known */
};

struct pvb_ep {
	struct fid_ep fid;
	struct pvb_domain *domain;
	struct fi_info *info; /* our copy, without domain, fabric and nic */
	struct pvb_eq *eq;
	struct pvb_srx *srx;	 /* NULL: receives are its own */
	struct pvb_connreq *req; /* responder: the request it was made for, ours */
	struct pvb_conn conn;
	uint32_t domain_tclass; /* wished for by the info's domain_attr */
	uint64_t tx_flags;	/* default op_flags of calls that have no flags */
	uint64_t rx_flags;
	bool tx_selective;
	bool rx_selective; /* also of receives of srx */
	bool fence_writes; /* WAR or SAR promised: writes and sends wait for earlier reads
			    */
	bool raw_cm;
	size_t inject_size; /* bytes */
	size_t max_msg;	    /* bytes */
	/* Of keepalive.c. */
	struct crn_list alive;
	bool listed;
	uint32_t seen_sent, seen_received; /* retired when it last looked */
};

struct pvb_pep {
	struct fid_pep fid;
	struct pvb_fabric *fabric;
	struct fi_info *info; /* our copy */
	struct pvb_eq *eq;
	struct rdma_cm_id *id; /* NULL until fi_listen */
	struct crn_list
		requests; /* pvb_connreq not yet given to fi_endpoint or fi_reject */
	int backlog;
	bool raw_cm;
};

/* fi_info.handle of an FI_CONNREQ. Belongs to the passive endpoint until taken. */
struct pvb_connreq {
	struct fid fid;	   /* FI_CLASS_CONNREQ */
	struct pvb_eq *eq; /* whose channel the id is on */
	struct rdma_cm_id *id;
	struct crn_list entry;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	struct pvb_cm_data data;
	bool raw_cm;	  /* of the listener */
	atomic_bool dead; /* the requester gave up meanwhile */
};

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

/* srx_recv.c */
void pvb_srx_msg_init(struct pvb_srx *srx);
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

/* deliver.c: FI_DELIVERY_COMPLETE. */

/* The words of a domain that has its protection domain. 0 or a negative code. */
int pvb_deliver_open(struct pvb_domain *domain);
void pvb_deliver_close(struct pvb_domain *domain);
/* What peers are told. */
struct pvb_cm_word pvb_deliver_word(const struct pvb_domain *domain);

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
void pvb_path_option(const struct pvb_ep *ep);
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
/* To ERR: everything posted flushes; posting is refused from here on. */
void pvb_conn_error(struct pvb_ep *ep);

/* cm_channel.c: handles every waiting rdma_cm event; takes cm_lock. */
int pvb_cm_progress(struct crn_eq *eq);
/* The rest of connection management is called with cm_lock held. */
int pvb_cm_reject(struct pvb_connreq *req, bool raw, const void *param, size_t len);
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
 * The slot that is filled next, or the one ahead places behind it. What never changes in
 * it is written here all the same: so the slots of a deep queue take memory when they are
 * used, not before.
 */
static inline struct pvb_slot *pvb_wq_slot(struct pvb_wq *wq, uint32_t ahead)
{
	const uint32_t at = wq->ring.head + ahead;
	struct pvb_slot *slot = &wq->slots[crn_ring_index(&wq->ring, at)];

	slot->wq = wq;
	slot->next = at + 1;
	return slot;
}

/* Queue entries that an operation with these op_flags takes. */
static inline uint32_t pvb_tx_entries(uint64_t op_flags)
{
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
