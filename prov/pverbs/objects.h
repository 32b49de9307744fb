/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the pverbs provider.
 *
 * Locks, in the order they are taken:
 *
 * pvb_eq.cm_lock: the CM state of every connection and passive endpoint of that EQ, and
 * the rdma_cm event channel; always on, for an EQ belongs to the fabric.
 *
 * pvb_requests.lock: which requests wait for the program, for the whole fabric.
 *
 * pvb_conn.tx_lock, rx_lock: posting to one queue pair. pvb_srx.lock: posting to a shared
 * receive context, and which queues complete it. pvb_cntr.lock: which completion queues
 * feed a counter. pvb_cq.lock: polling and the stash. These are off with
 * FI_THREAD_DOMAIN, unless keep-alive is on.
 *
 * Polling never takes tx_lock or rx_lock and posting does not take pvb_cq.lock (but for a
 * device that refuses what was accepted already): they meet in the rings (cairn/ring.h).
 */
#ifndef PVB_OBJECTS_H
#define PVB_OBJECTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>
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
#include "persist/desc.h"
#include "persist/native.h"

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
	 FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE)
#define PVB_RX_OP_FLAGS FI_COMPLETION
/* Flags of fi_recvmsg. */
#define PVB_RECV_FLAGS (FI_COMPLETION | FI_MORE)

extern struct fi_provider pvb_prov;

/* Who sees to it that a fenced operation waits: fence.c. */
enum pvb_fence { PVB_FENCE_DEVICE, PVB_FENCE_WAIT, PVB_FENCE_AUTO };

enum pvb_durable { PVB_DURABLE_OFF, PVB_DURABLE_ON, PVB_DURABLE_AUTO };

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
	int fence;	   /* enum pvb_fence */
	int fork_safe;	   /* a child of fork keeps away from registered memory */
	/* Of durable operations: persist/. */
	int durable;	    /* control queue pairs: enum pvb_durable */
	int force_message;  /* no one-sided method */
	int commit_timeout; /* ms that a target may take to answer */
	/* Declared about this machine: persist/declare.c. NULL: nothing. */
	char *pmem_config; /* a file */
	char *persistence; /* dmp, mhp or wsp */
	char *ddio;	   /* on or off */
};
extern struct pvb_params pvb_params;

/* fclass of the context of a lane's rdma_cm id: beside libfabric's own. */
#define PVB_CLASS_LANE ((size_t)1 << 16)

/* request.h */
struct pvb_requests {
	pthread_mutex_t
		lock; /* after cm_lock; guards what follows, and req->eq and ->pep */
	struct crn_list list; /* pvb_connreq not yet given to fi_endpoint or fi_reject */
	/* Where those are whose event queue was closed; NULL: there was none yet. */
	struct rdma_event_channel *channel;
};

struct pvb_fabric {
	struct fid_fabric fid;
	pid_t pid; /* whose it is: a child of fork has a copy that is none */
	atomic_uint refs;
	struct pvb_requests requests;
	/* Of persist/second.c; taken last, guards the lists. */
	pthread_mutex_t second_lock;
	struct crn_list expected;  /* lanes whose second connection has not come yet */
	struct crn_list listeners; /* pvb_pep */
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
	/* Of queue pairs in ERR: one said that it left its shared receive queue alone;
	 * so many did not in time. */
	atomic_bool last_wqe_heard;
	atomic_uint last_wqe_missed;
	struct pvb_native native;    /* what the device offers */
	bool fence_waits;	     /* fence.c, not the device's own fences */
	bool rings;		     /* atomics, of the device: doorbells can be rung */
	struct pvb_control *control; /* persist/control.h; NULL: no durable connections */
	/* Of removal.c. conns_lock comes before the locks of posting and of a queue. */
	pthread_mutex_t conns_lock;
	struct crn_list conns; /* with a queue pair */
	struct crn_list srxs;
	atomic_bool gone; /* the device was removed */
	int gone_fd;	  /* eventfd: readable from then on */
	bool locked;	  /* anything but FI_THREAD_DOMAIN */
	atomic_uint refs; /* endpoints, queues and regions */
};

/* Persistent memory, which peers may ask to be made durable: persist/respond.c. */
struct pvb_target {
	struct crn_list entry;
	uint64_t addr;
	uint64_t len; /* bytes */
	uint32_t rkey;
	bool write; /* peers may write to it */
	bool flush; /* the processor's caches are outside the persistence domain */
	unsigned int users; /* who flush it; with the lock of persist/control.h */
};

struct pvb_mr {
	struct fid_mr fid;
	struct pvb_domain *domain;
	struct ibv_mr *mr;
	struct pvb_target target;
	struct pvb_desc desc; /* FI_RMA_PMEM: what the key says; else zero */
	bool replay;	      /* declared: its receives are applied again by recovery */
	atomic_uint users;    /* endpoints whose receives are in it */
};

struct pvb_eq {
	struct crn_eq eq;
	struct pvb_fabric *fabric;
	pthread_mutex_t cm_lock;
	struct rdma_event_channel *channel;
	int timer;	       /* of keepalive.c; -1: off */
	struct crn_list alive; /* connected endpoints, for it */
	/* Of persist/second.c. */
	struct crn_list lanes;	 /* whose second connection is being made */
	int lanes_timer;	 /* -1: none yet */
	uint64_t lanes_due;	 /* ms: the first of them has no more time; else ~0 */
	atomic_bool lanes_moved; /* another EQ's thread has something for one */
	atomic_uint refs;
	atomic_uint looking; /* readers of completion queues: persist/hold.c */
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
	/* Of removal.c: all has ended, hw_count of the device queues is 0, so many are to
	 * be destroyed. */
	bool ended;
	uint32_t hw_gone;
	atomic_uint idle;    /* times it was read in vain */
	uint32_t hw_next;    /* where the next poll begins: none starves */
	struct ibv_cq *only; /* of hw, while there is no other; NULL: none, or several */
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
	/* Connections some of whose completions the device has given and the program may
	 * not have yet (pvb_holder): persist/hold.c, persist/arrival.c. */
	struct crn_list holding;
	atomic_bool wonders; /* one of them does: pvb_hold_look */
	int vector;	     /* completion vector: fi_cq_attr.signaling_vector */
	enum fi_cq_wait_cond wait_cond;
	/* NULL: neither the queue nor a counter fed by it has a wait object */
	struct ibv_comp_channel *channel;
	struct crn_wait wait;
	atomic_bool signaled; /* fi_cq_signal, not yet seen by a sread */
	atomic_bool told;     /* of it, one who waits by the descriptor */
	atomic_uint sreaders; /* threads in fi_cq_sread */
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
/* Completed by the device, and durable once the target answered a request... */
#define PVB_SLOT_REQUEST (1ULL << 58)
/* ... or an entry of its message ring. */
#define PVB_SLOT_ENTRY (1ULL << 57)
/* One of a group of durable writes, and what makes all of the group durable. */
#define PVB_SLOT_GROUP (1ULL << 48)
#define PVB_SLOT_GROUP_END (1ULL << 47)
/* A durable operation that says as much of everything before it. */
#define PVB_SLOT_FENCED (1ULL << 46)
/* What hold.c looks at, whatever else is held back. */
#define PVB_SLOT_HELD \
	(PVB_SLOT_REQUEST | PVB_SLOT_ENTRY | PVB_SLOT_GROUP | PVB_SLOT_GROUP_END)
/* While it is held back: what the device said, an enum ibv_wc_status. */
#define PVB_SLOT_STATUS_SHIFT 49
#define PVB_SLOT_STATUS (0xffULL << PVB_SLOT_STATUS_SHIFT)
#define PVB_SLOT_FLAGS                                                      \
	(PVB_SLOT_QUIET | PVB_SLOT_INJECT | PVB_SLOT_LED | PVB_SLOT_PROOF | \
	 PVB_SLOT_UNASKED | PVB_SLOT_HELD | PVB_SLOT_FENCED | PVB_SLOT_STATUS)

struct pvb_wq {
	struct crn_ring ring;
	struct pvb_slot *slots;
	struct pvb_conn *conn;
	struct pvb_cq *cq;
	uint32_t depth;	  /* size of the open ring */
	uint64_t entries; /* ever used, when stats.c last looked */
	uint64_t stalls;  /* calls refused because the ring was full */
	/* Counted, srx is not NULL, the receives of a lane, or a send queue that hold.c
	 * has to look at. */
	atomic_bool special;
	bool counted;	      /* some cntr is not NULL */
	struct ibv_sge *bufs; /* receives for persist/ring.c: buf_limit a slot; or NULL */
	struct pvb_arrival *arrivals; /* persist/arrival.c: one a slot; or NULL */
	uint32_t buf_limit;
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
	struct fid_ep fid;     /* FI_CLASS_SRX_CTX */
	struct crn_list entry; /* of pvb_domain.srxs */
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
	PVB_CONN_SECOND,    /* stands; waiting for its second connection */
	PVB_CONN_CONNECTED,
	PVB_CONN_SHUTDOWN, /* was connected; queue pair in ERR */
	PVB_CONN_FAILED,   /* was never connected; queue pair in ERR */
};

/* Work requests held back by FI_MORE, to be posted as one list. */
struct pvb_chain {
	struct ibv_send_wr wr[PVB_CHAIN_LIMIT];
	struct ibv_sge sge[PVB_CHAIN_LIMIT][PVB_IOV_LIMIT];
};

/* Who holds completions of a queue back. */
struct pvb_holder {
	struct crn_list entry; /* of pvb_cq.holding */
	/* What may be reported now goes to the stash, as far as it has room; the entry is
	 * taken out once nothing is held back. With the lock of the queue held. */
	void (*release)(struct pvb_cq *cq, struct pvb_holder *holder);
	bool wonders; /* whether the connection has ended: hold.c alone */
};

/* Completions of a send queue that wait for the target: persist/hold.c. */
struct pvb_hold {
	struct pvb_holder holder;
	bool active;
	uint32_t done;		  /* position up to which the device has completed */
	_Atomic uint32_t grouped; /* writes of groups that were not reported */
	uint32_t flushed;	  /* position up to which groups are durable, */
	bool flushing;		  /* which means something while some are not reported */
	atomic_bool failed;	  /* what a fenced operation had to see to was not done */
	/* FI_E*, why messages sent before a fenced operation are not durable; 0: they
	 * are, or nobody asked. */
	atomic_int undurable;
	bool marked;   /* the marker of pvb_tx_close is among them */
	bool broken;   /* no group will be from now on */
	uint64_t look; /* ms: when it wonders again */
	uint32_t seen; /* requests whose entries of the send queue completed */
	_Atomic uint32_t ended[2]; /* requests and ring entries answered or given up */
};

/* A reliable connection: one queue pair and its rdma_cm id. */
struct pvb_conn {
	struct crn_list entry; /* of pvb_domain.conns */
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex; /* NULL: no native FLUSH */
	struct crn_lock tx_lock;
	struct pvb_wq sq;
	uint32_t inline_size;	 /* payload the queue pair takes inline */
	uint32_t unsignaled;	 /* work requests since the last signaled one */
	uint32_t signal_every;	 /* most of them */
	uint32_t reads_end;	 /* position behind the newest read or atomic */
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
	struct pvb_lane *lane;	/* persist/control.h; NULL: no message method */
	struct pvb_commit
		*commit; /* persist/commit.h; NULL until something is persistent */
	struct pvb_hold hold;
	bool was_up;	      /* the peer may have sent something */
	atomic_bool last_wqe; /* the device takes no more from the shared queue */

	struct rdma_cm_id *id;		   /* NULL until connecting */
	_Atomic enum pvb_conn_state state; /* written with cm_lock held */
	struct pvb_cm_data peer; /* what the peer's trailer said; no application data */
	uint8_t request_len;	 /* bytes of request_buf */
	/* Sent once the route is known; in SECOND, what the responder's answer brought.
	 */
	uint8_t request_buf[PVB_CM_REQ_SIZE];
};

struct pvb_ep {
	struct fid_ep fid;
	struct pvb_domain *domain;
	struct fi_info *info; /* our copy, without domain, fabric and nic */
	struct pvb_eq *eq;
	struct pvb_srx *srx;	 /* NULL: receives are its own */
	struct pvb_connreq *req; /* responder: the request it was made for, ours */
	struct pvb_conn conn;
	struct pvb_mr *replay;	/* FI_OPT_CAIRN_REPLAY; NULL: receives are anywhere */
	uint32_t domain_tclass; /* wished for by the info's domain_attr */
	uint64_t tx_flags;	/* default op_flags of calls that have no flags */
	uint64_t rx_flags;
	bool tx_selective;
	bool rx_selective; /* also of receives of srx */
	bool fence_writes; /* WAR or SAR promised: writes and sends wait for earlier reads
			    */
	bool fence_waits;  /* of its domain */
	bool raw_cm;
	size_t inject_size; /* bytes */
	size_t max_msg;	    /* bytes */
	/* A call without flags and with 1 to so many bytes asks for its completion alone;
	 * 0: none does. */
	size_t plain_most;
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
	struct crn_list entry; /* of pvb_fabric.listeners */
	int backlog;
	bool raw_cm;
};

/* fi_info.handle of an FI_CONNREQ: request.h. */
struct pvb_connreq {
	struct fid fid;	   /* FI_CLASS_CONNREQ */
	struct pvb_eq *eq; /* whose channel the id is on; NULL: the fabric's */
	struct rdma_cm_id *id;
	struct crn_list entry;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	struct pvb_cm_data data;
	const struct pvb_pep *pep; /* the listener; NULL: closed before the request was
				      taken */
	bool raw_cm;		   /* of the listener */
	atomic_bool dead;	   /* the requester gave up meanwhile */
};

#endif
