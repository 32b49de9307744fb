/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The objects of the provider. All that moves on a device is guarded by the device's
 * lock: calls of the program take it, and everything that peers call back is called with
 * it. Order of locks: the fabric's, its wait object's, a device's, those of queues.
 */
#ifndef RTE_OBJECTS_H
#define RTE_OBJECTS_H

#include <stdatomic.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <cairn/cntr.h>
#include <cairn/cq.h>
#include <cairn/ep.h>
#include <cairn/eq.h>
#include <cairn/list.h>
#include <cairn/lock.h>
#include <cairn/mr.h>
#include <cairn/wait.h>
#include "addr/addr.h"
#include "config/config.h"
#include "peer/peer.h"
#include "route.h"
#include "xfer/xfer.h"

struct rte_fabric {
	struct fid_fabric fid;
	struct rte_config *config;
	_Atomic unsigned int refs; /* event queues, domains, passive endpoints */
	struct crn_wait wait;	   /* for whatever happens on any device */
	struct crn_lock lock;	   /* guards what follows; taken first of all */
	struct crn_list devices;   /* of struct rte_device: those in use */
	_Atomic unsigned int used; /* how many those are; any thread may look */
	struct crn_list eqs;	   /* of struct rte_eq: open */
};

/* A descriptor of a device's port, among those of fabric->wait. */
struct rte_device_source {
	struct crn_wait_source source;
	struct rte_device *device;
};

/* A router that was named by one that could not help. */
struct rte_redirect {
	uint32_t as, subnet;
	struct rte_uri uri;
	uint64_t until; /* ms; 0: nothing is here */
};

#define RTE_REDIRECTS 16u

/* A router of the configuration that could not reach a subnet. */
struct rte_avoided {
	uint32_t router; /* index */
	uint32_t as, subnet;
	uint64_t until; /* ms: for that subnet it is asked after all others; 0: nothing */
};

#define RTE_AVOIDED 16u

/* A device of the configuration that something is opened over: one domain of the lower
 * provider, for all domains and passive endpoints of the program. */
/* keyring.c */
struct rte_keyring {
	struct rte_auth_ring *ring; /* NULL: the device has no keys */
	/* That they are from; NULL: that of the fabric. */
	struct rte_config *config;
	uint64_t mark; /* of the files, as they were */
};

/* Addresses of a router that the configuration names, of cm/trust.c. */
struct rte_trusted {
	uint64_t until; /* ms: they hold */
	uint32_t count;
	union crn_addr addr[RTE_NET_TURNS];
};

struct rte_device {
	struct crn_list entry; /* of fabric->devices */
	struct rte_fabric *fabric;
	const struct rte_config_device *config;
	unsigned int refs; /* domains and passive endpoints; of fabric->lock */
	struct rte_addr_view view;
	struct rte_net *net;
	struct rte_arena *arena;
	struct rte_port *port;
	struct rte_keyring keyring;
	uint64_t denied; /* ms: when the log was told last of who was not let in */
	struct rte_device_source sources[RTE_PORT_FDS];
	struct crn_lock lock;	  /* guards port and what follows */
	struct crn_list incoming; /* of struct rte_incoming */
	struct crn_list peps;	  /* of struct rte_pep: open */
	struct crn_list untold;	  /* rte_ep.untold: events that had no room */
	struct rte_redirect redirect[RTE_REDIRECTS]; /* a ring */
	uint32_t redirects;			     /* ever added */
	struct rte_avoided avoided[RTE_AVOIDED];     /* a ring */
	uint32_t avoids;			     /* ever added */
	struct {
		uint64_t id;	  /* 0: not known yet */
		uint64_t shunned; /* ms, until when it is asked after all others: it has
				   * said nothing */
		struct rte_trusted trusted;
	} router[RTE_CONFIG_ROUTERS_MAX]; /* of the configuration */
	struct rte_auto
		*automatic; /* of fabric->lock; NULL: the program makes progress */
};

struct rte_domain {
	struct fid_domain fid;
	struct rte_fabric *fabric;
	struct rte_device *device;
	_Atomic unsigned int refs; /* queues, counters, endpoints */
	bool prov_key;		   /* FI_MR_PROV_KEY */
	bool automatic;		   /* FI_PROGRESS_AUTO */
	struct crn_mr_map map;	   /* has a lock of its own */
};

struct rte_mr {
	struct fid_mr fid;
	struct crn_mr mr;
	struct rte_domain *domain;
	struct fid_mr *lower;  /* NULL: the lower provider needs none */
	uint32_t holds;	       /* messages that the lower provider reads from it */
	bool persistent;       /* FI_RMA_PMEM */
	struct fid_mr *lent;   /* for other ends that reach it; NULL: none ever has */
	struct crn_list loans; /* rte_vc_loan.of_mr */
	bool flush;	       /* of persistent: the processor's caches do not survive */
};

struct rte_eq {
	struct crn_eq eq;
	struct crn_list entry; /* of fabric->eqs */
	struct rte_fabric *fabric;
	struct crn_wait_inner source;
};

struct rte_cq {
	struct crn_cq cq;
	struct rte_domain *domain;
	struct crn_wait_inner source;
};

struct rte_cntr {
	struct crn_cntr cntr;
	struct rte_domain *domain;
	struct crn_wait_inner source;
};

struct rte_pep {
	struct fid_pep fid;
	struct crn_list entry; /* of device->peps */
	struct rte_fabric *fabric;
	struct rte_device *device;
	struct fi_info *info; /* of the program */
	struct rte_eq *eq;    /* NULL: none is bound */
	struct rte_listener *listener;
	struct rte_end name; /* once it listens */
	uint32_t backlog;
	uint32_t waiting; /* of device->incoming: not answered */
};

enum rte_incoming_state {
	RTE_INCOMING_NEW,   /* CONN_REQ has not come yet */
	RTE_INCOMING_ASKED, /* FI_CONNREQ was reported */
};

/* Somebody who wants to connect, up to fi_accept or fi_reject. */
struct rte_incoming {
	struct fid handle;     /* of its fi_info; nothing is called through it */
	struct crn_list entry; /* of device->incoming */
	struct rte_device *device;
	struct rte_pep *pep; /* NULL: closed, and the program has the request */
	enum rte_incoming_state state;
	bool taken;	       /* by an endpoint */
	struct rte_peer *peer; /* NULL: has given up */
	struct rte_conn_req req;
	struct crn_deadline deadline;
};

enum rte_ep_state {
	RTE_EP_OPEN,	   /* not enabled */
	RTE_EP_ENABLED,	   /* receives may be posted */
	RTE_EP_CONNECTING, /* the peer of the first hop is not up */
	RTE_EP_ASKING,	   /* CONN_REQ is sent, or about to be */
	RTE_EP_ACCEPTING,  /* CONN_REP is: CONN_ACK has not come */
	RTE_EP_UP,
	RTE_EP_CLOSING, /* fi_shutdown: what was posted is sent first */
	RTE_EP_DOWN,
};

/* Events that the program has not been told of, in this order. */
enum rte_ep_news {
	RTE_NEWS_CONNECTED = 1 << 0,
	RTE_NEWS_FAILED = 1 << 1,
	RTE_NEWS_SHUTDOWN = 1 << 2,
};

#define RTE_WHY_SIZE (RTE_TEXT_MAX + 1)

/* Why a connection did not come about. */
struct rte_failure {
	int err;	 /* FI_E* */
	uint64_t router; /* where; 0: not at a router */
	bool by_program; /* the target's: param is its data */
	char why[RTE_WHY_SIZE];
};

/* What is sent once the peer has room for a message. */
enum rte_ep_say {
	RTE_SAY_NOTHING,
	RTE_SAY_CONN_REQ,
	RTE_SAY_CONN_REP,
	RTE_SAY_CONN_ACK,
};

struct rte_ep {
	struct fid_ep fid;
	struct crn_ep ep;
	struct rte_domain *domain;
	struct rte_device *device;
	struct rte_vc vc; /* once it is enabled */
	enum rte_ep_state state;
	struct rte_end self, other;
	bool has_other;
	size_t tx_iov_limit, rx_iov_limit, max_msg_size;
	/* A connection; cm/. */
	struct rte_incoming *incoming; /* not accepted yet */
	struct rte_peer *peer;
	uint8_t id[RTE_CONN_ID_LEN];
	struct rte_vc_path path;
	struct crn_deadline deadline;
	uint64_t due; /* ms: it has to be there */
	enum rte_ep_say say;
	uint8_t param[RTE_PARAM_MAX]; /* of this end, then of the other */
	size_t param_len;
	uint32_t router, tried; /* of the device: the first one, and how many since */
	uint64_t asked;		/* of the device: 1 << those */
	uint32_t asks;	     /* the one that is asked now, from 1 on; 0: none of them */
	uint32_t redirected; /* times */
	struct rte_uri *uri; /* the router that it was sent to; NULL: none */
	int broken;	     /* FI_E*: the data path wants an end */
	bool drained;
	/* What the program is to be told. */
	struct crn_list untold; /* of device->untold */
	unsigned int news;	/* enum rte_ep_news */
	struct rte_failure failure;
};

static inline struct rte_ep *rte_ep_of(struct fid_ep *ep)
{
	return crn_container_of(ep, struct rte_ep, fid);
}

static inline struct crn_lock *rte_lock_of(struct rte_ep *ep)
{
	return &ep->device->lock;
}

/* One constructor a file. */
int rte_fabric_open(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
		    void *context);
int rte_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);
int rte_domain_open(struct fid_fabric *fabric, struct fi_info *info,
		    struct fid_domain **domain, void *context);
int rte_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		void *context);
int rte_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr,
		  struct fid_cntr **cntr, void *context);
int rte_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);
int rte_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);
extern struct fi_ops_mr rte_mr_ops;
/* Of struct rte_vc_attr; with the device's lock. */
bool rte_mr_hold(struct rte_vc *vc, struct crn_mr *region, void **desc);
void rte_mr_release(struct rte_vc *vc, struct crn_mr *region);
bool rte_mr_persistent(struct rte_vc *vc, struct crn_mr *region);
void rte_mr_persist(struct rte_vc *vc, struct crn_mr *region, const void *at, size_t len);
int rte_mr_lend(struct rte_vc *vc, struct crn_mr *region, struct rte_vc_loan *loan);

#endif
