/* SPDX-License-Identifier: BSD-2-Clause */
/* Fabrics, domains and memory regions. */
#ifndef PVB_OBJECTS_DOMAIN_H
#define PVB_OBJECTS_DOMAIN_H

#include "device/device.h"
#include "wire/wire.h"
#include "datagram.h"
#include "durable.h"

/* cm/request.h */
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
	/* Of persist/control/control_conn.c; taken last, guards the lists. */
	pthread_mutex_t control_conn_lock;
	struct crn_list expected;  /* control queue pairs whose control connection has not
				      come yet */
	struct crn_list listeners; /* pvb_pep */
};

struct pvb_domain {
	struct fid_domain fid;
	struct pvb_fabric *fabric;
	const struct pvb_durable *durable;
	struct fi_info *info; /* the one given to fi_domain, our copy */
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_device_attr attr;
	struct pvb_words *words; /* xfer/deliver.c */
	struct ibv_mr *words_mr;
	uint32_t quirks;	/* of the device: enum pvb_quirk */
	bool atomics;		/* of the device, and asked for */
	struct ibv_mr *sink_mr; /* xfer/sink.c: 8 bytes; NULL without atomics */
	/* Of queue pairs in ERR: one said that it left its shared receive queue alone;
	 * so many did not in time. */
	atomic_bool last_wqe_heard;
	atomic_uint last_wqe_missed;
	struct pvb_native native; /* what the device offers */
	bool fence_waits;	  /* xfer/fence.c, not the device's own fences */
	bool seq_atomics; /* atomics, of the device: sequence words can be advanced */
	struct pvb_control
		*control; /* persist/control/control.h; NULL: no durable connections */
	struct pvb_ud_domain *ud; /* NULL: not opened for datagrams */
	/* Of cq/removal.c. qps_lock comes before the locks of posting and of a queue.
	 */
	pthread_mutex_t qps_lock;
	struct crn_list qps; /* that were made */
	struct crn_list srxs;
	atomic_bool gone; /* the device was removed */
	int gone_fd;	  /* eventfd: readable from then on */
	bool locked;	  /* anything but FI_THREAD_DOMAIN */
	atomic_uint refs; /* endpoints, queues and regions */
};

/* Persistent memory, which peers may ask to be made durable: persist/target/respond.c. */
struct pvb_pmem_region {
	struct crn_list entry;
	uint64_t addr;
	uint64_t len; /* bytes */
	uint32_t rkey;
	bool write; /* peers may write to it */
	bool flush; /* the processor's caches are outside the persistence domain */
	unsigned int users; /* threads that flush it; with the lock of
			       persist/control/control.h */
};

struct pvb_mr {
	struct fid_mr fid;
	struct pvb_domain *domain;
	struct ibv_mr *mr;
	struct pvb_pmem_region pmem_region;
	struct pvb_key_attr key_attr; /* FI_RMA_PMEM: what the key says; else zero */
	bool replay;	   /* declared: its receives are applied again by recovery */
	atomic_uint users; /* endpoints whose receives are in it */
};

/* Does the device do this differently? */
static inline bool pvb_quirk(const struct pvb_domain *domain, enum pvb_quirk quirk)
{
	return domain->quirks & quirk;
}

/* The device's name, which is the domain's. */
static inline const char *pvb_domain_device(const struct pvb_domain *domain)
{
	return ibv_get_device_name(domain->verbs->device);
}

#endif
