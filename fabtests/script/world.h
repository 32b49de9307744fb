/* SPDX-License-Identifier: BSD-2-Clause */
/* The objects of the scripted provider; its files alone include this. */
#ifndef SCR_WORLD_H
#define SCR_WORLD_H

#include <stdatomic.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <cairn/addr.h>
#include <cairn/cntr.h>
#include <cairn/cq.h>
#include <cairn/ep.h>
#include <cairn/eq.h>
#include <cairn/list.h>
#include <cairn/mr.h>
#include <cairn/nosys.h>
#include "script.h"

#define SCR_IOV_LIMIT 4
#define SCR_FABRIC_NAME "script-fabric"
#define SCR_DOMAIN_NAME "script-domain"

/* Every object, in the list that scr_fid walks. */
struct scr_object {
	struct crn_list entry;
	struct fid *fid;
};

struct scr_fabric {
	struct scr_object object;
	struct fid_fabric fid;
	_Atomic unsigned int refs;
};

struct scr_domain {
	struct scr_object object;
	struct fid_domain fid;
	struct scr_fabric *fabric;
	struct crn_mr_map mrs;
	uint64_t mr_mode;
	bool locked;
	_Atomic unsigned int refs;
};

struct scr_mr {
	struct scr_object object;
	struct fid_mr fid;
	struct crn_mr mr;
	struct scr_domain *domain;
};

struct scr_eq {
	struct scr_object object;
	struct crn_eq eq;
	const struct fi_ops_eq *base; /* crn_eq's */
	struct fi_ops_eq ops;
};

struct scr_cq {
	struct scr_object object;
	struct crn_cq cq;
	const struct fi_ops_cq *base; /* crn_cq's */
	struct fi_ops_cq ops;
};

struct scr_cntr {
	struct scr_object object;
	struct crn_cntr cntr;
};

struct scr_pep {
	struct scr_object object;
	struct fid_pep fid;
	struct scr_fabric *fabric;
	struct scr_eq *eq;    /* NULL: not bound */
	struct fi_info *info; /* owned */
	bool listening;
};

/* What fi_listen's EQ reports, and info->handle of FI_CONNREQ means. */
struct scr_request {
	struct crn_list entry; /* of all */
	struct fid fid;
	struct scr_pep *pep; /* NULL: an endpoint has it, to be accepted */
	struct scr_ep *from; /* NULL: it went away */
};

/* Posted receives, of an endpoint or shared. */
struct scr_rx {
	struct crn_list posted; /* of struct scr_work */
	size_t count, size;
};

struct scr_srx {
	struct scr_object object;
	struct fid_ep fid;
	struct fi_ops_msg msg;
	struct scr_domain *domain;
	struct scr_rx rx;
	struct crn_list eps; /* of struct scr_ep */
	uint64_t op_flags;
};

enum scr_state {
	SCR_IDLE,
	SCR_CONNECTING,
	SCR_CONNECTED,
	SCR_SHUT,
};

struct scr_event;

struct scr_ep {
	struct scr_object object;
	struct fid_ep fid;
	struct crn_ep ep;
	struct scr_fabric *fabric;
	struct scr_domain *domain;
	struct fi_info *info; /* owned */
	enum scr_state state;
	struct scr_ep *peer;	     /* while connected */
	struct scr_request *asked;   /* by fi_connect, while unanswered */
	struct scr_request *request; /* that fi_accept answers */
	struct scr_rx own_rx;
	struct scr_rx *rx; /* own_rx, or that of srx */
	struct scr_srx *srx;
	struct crn_list srx_entry;
	struct crn_list works;	  /* posted and not over; struct scr_work */
	struct crn_list incoming; /* the peer's, which wait for a receive or a place */
	size_t tx_count;
	struct scr_event *farewell; /* its FI_SHUTDOWN, made when it is connected */
};

/* What scr_hold may hold: part of a work or an event. */
struct scr_held {
	struct crn_list entry;
	enum scr_what what;
};

struct scr_atomic {
	enum fi_op op;
	uint64_t compare; /* of FI_CSWAP */
	void *result;	  /* where what was there goes; NULL: nowhere */
};

/* An operation or a receive. */
struct scr_work {
	struct crn_list entry; /* of posted or incoming */
	struct crn_list mine;  /* of the endpoint's works */
	struct scr_held held;
	enum scr_call op;
	struct scr_ep *ep; /* it belongs to; NULL: a shared receive, not yet used */
	void *context;
	uint64_t flags; /* of the call, or op_flags */
	bool silent;	/* fi_inject and its kin: an entry only if it fails */
	struct iovec iov[SCR_IOV_LIMIT];
	size_t iov_count;
	size_t len; /* bytes of iov */
	uint64_t addr, key;
	uint64_t data;
	uint64_t tag, ignore;
	struct scr_atomic atomic;
	void *copy;		 /* of injected data; owned */
	struct scr_work *notice; /* of a write with data, for the target; owned */
	/* What became of it. */
	uint64_t comp_flags;
	size_t done_len;
	void *done_buf; /* of a receive */
	uint64_t done_data;
	int err; /* FI_E*; 0: a success */
	int prov_errno;
	size_t olen;
	void *err_data; /* owned */
	size_t err_data_size;
};

/* An event that is ready: handing it out needs no memory. */
struct scr_event {
	struct scr_held held;
	struct scr_eq *eq;
	struct fid *about;
	uint32_t event;
	size_t len;
	struct crn_list batch; /* of crn_eq_prepare */
};

extern struct fi_provider scr_prov;

/* ---- script.c ---- */

/* Guards connections, works, what is held, and the list of objects. */
void scr_lock(void);
void scr_unlock(void);

/* Records a call, without the lock. 0: it goes on; otherwise what it returns. */
int scr_enter(const struct scr_record *record);

void scr_object_add(struct scr_object *object, struct fid *fid);
void scr_object_del(struct scr_object *object);
/* With the lock. */
extern struct crn_list scr_objects;

/* ---- offer.c ---- */
void scr_offer_reset(void);
size_t scr_cm_data_limit(void);
int scr_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);

/* ---- fabric.c, domain.c ---- */
int scr_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context);
int scr_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **fid, void *context);

/* ---- queues.c ---- */
int scr_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **fid,
		void *context);
int scr_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **fid,
		void *context);
int scr_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **fid, void *context);

/* ---- mr.c ---- */
extern struct fi_ops_mr scr_mr_ops;
/* Each piece lies in memory that its descriptor allows access to. 0 or -FI_EACCES. */
int scr_mr_local(struct scr_domain *domain, const struct iovec *iov, void **desc,
		 size_t count, uint64_t access);

/* ---- ep.c, srx.c ---- */
int scr_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **fid,
		 void *context);
int scr_srx_open(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **fid,
		 void *context);
/* FI_OPT_CM_DATA_SIZE, of endpoints, passive ones, and receive contexts. */
int scr_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen);
int scr_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen);
/* These two and nothing else. */
extern struct fi_ops_ep scr_opt_ops;

/* ---- cm.c ---- */
extern struct fi_ops_cm scr_ep_cm_ops;
/* Gives info's source address a port, unless it has one. */
void scr_port_choose(struct fi_info *info);
/* With the lock: */
/* A request that was not answered or taken yet; NULL: handle is none. */
struct scr_request *scr_request_find(const struct fid *handle);
/* The one who asked is told (data: of fi_reject), unless there is no memory for that. */
int scr_request_refuse(struct scr_request *request, const void *data, size_t len);
/* All that the passive endpoint has to answer. */
void scr_requests_refuse(struct scr_pep *pep);
/* Ends the connection, and its making; the peer is told. */
void scr_cm_leave(struct scr_ep *ep, bool tell_self);

/* ---- pep.c ---- */
int scr_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **fid,
		   void *context);
/* With the lock: who listens there; NULL: nobody. */
struct scr_pep *scr_pep_find(const void *addr);

/* ---- event.c: with the lock ---- */

/* NULL: no memory. err: 0, or it becomes an error entry. */
struct scr_event *scr_event_new(struct scr_eq *eq, struct fid *about, uint32_t event,
				int err, int prov_errno, struct fi_info *info,
				const void *data, size_t len);
void scr_event_free(struct scr_event *event);
/* Holds it or writes it. */
void scr_event_send(struct scr_event *event);
void scr_event_write(struct scr_event *event);

/* ---- msg.c, rma.c, tagged.c, atomic.c; post.h has the rest ---- */
extern struct fi_ops_msg scr_ep_msg_ops;
extern struct fi_ops_rma scr_ep_rma_ops;
extern struct fi_ops_tagged scr_ep_tagged_ops;
extern struct fi_ops_atomic scr_ep_atomic_ops;
void scr_srx_msg_init(struct fi_ops_msg *ops);
int scr_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
		     struct fi_atomic_attr *attr, uint64_t flags);
/* What stands there afterwards. */
uint64_t scr_atomic_apply(const struct scr_atomic *atomic, uint64_t old,
			  uint64_t operand);

/* ---- work.c: with the lock ---- */

/* The operation was posted: it arrives, or is held. */
void scr_work_start(struct scr_work *work);
void scr_work_arrive(struct scr_work *work);
/* It is over: its entry is written, or held. */
void scr_work_end(struct scr_work *work);
void scr_work_report(struct scr_work *work);
void scr_work_free(struct scr_work *work);
/* What waits at the endpoint is tried again. */
void scr_work_retry(struct scr_ep *ep);
/* Everything outstanding of the endpoint ends with FI_ECANCELED; closing: at once, even
 * what is held. */
void scr_work_flush(struct scr_ep *ep, bool closing);

/* ---- hold.c: with the lock ---- */

/* True: it is held from now on. */
bool scr_held_take(struct scr_held *held, enum scr_what what);
void scr_held_forget(struct scr_held *held);
/* Held events about the object are dropped, as fi_close promises. */
void scr_held_drop_events(const struct fid *about);
void scr_hold_reset(void);

#endif
