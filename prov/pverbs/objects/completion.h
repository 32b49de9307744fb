/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion queues and counters. */
#ifndef PVB_OBJECTS_COMPLETION_H
#define PVB_OBJECTS_COMPLETION_H

#include "wire/wire.h"
#include "pverbs.h"

/* A completion in the provider's own form, until a format of the application's is filled.
 */
struct pvb_comp {
	void *context;
	uint64_t flags;
	size_t len;
	uint64_t data;
	int err;	/* FI_E*; 0: success */
	int prov_errno; /* of an error: enum ibv_wc_status, or -errno of a refused post */
	size_t olen;	/* of FI_ETRUNC: bytes that there was no room for; 0: not known */
	uint64_t source; /* of a datagram: its fi_addr_t + 1, or PVB_SOURCE_* */
};

/* Not known, or no datagram; it reads as FI_ADDR_NOTAVAIL. */
#define PVB_SOURCE_NONE 0
/* Of an error FI_EADDRNOTAVAIL: the address is the oldest of pvb_cq.unknown. */
#define PVB_SOURCE_UNKNOWN 1

/* Addresses of senders that are in no vector, for error entries in the stash: a ring.
 * cq/source.c. */
struct pvb_unknown {
	struct pvb_ud_addr *addrs;
	uint32_t size; /* power of two, or 0 */
	uint32_t head; /* the oldest */
	uint32_t count;
	struct pvb_ud_addr last; /* what fi_cq_readerr gave: valid until the next */
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
	/* Of cq/removal.c: all has ended, hw_count of the device queues is 0, so many are
	 * to be destroyed. */
	bool ended;
	uint32_t hw_gone;
	atomic_uint idle; /* reads that found nothing */
	uint32_t hw_next; /* where the next poll begins: none starves */
	struct ibv_cq
		*single; /* of hw, while there is no other; NULL: none, or several */
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
	 * not have yet (pvb_defer_source): persist/initiator/defer.c,
	 * persist/target/arrival.c.
	 */
	struct crn_list deferring;
	atomic_bool wonders; /* one of them does: pvb_defer_look */
	int vector;	     /* completion vector: fi_cq_attr.signaling_vector */
	atomic_bool sources; /* an endpoint with FI_SOURCE receives here, or did */
	struct pvb_unknown unknown;
	enum fi_cq_wait_cond wait_cond;
	/* NULL: neither the queue nor a counter fed by it has a wait object */
	struct ibv_comp_channel *channel;
	struct crn_wait wait;
	atomic_bool signaled; /* fi_cq_signal, not yet seen by a sread */
	atomic_bool told;     /* fi_trywait has reported it */
	atomic_uint sreaders; /* threads in fi_cq_sread */
	atomic_uint refs;
	_Atomic uint64_t events_ms; /* crn_tick_ms of the last poll for device events */
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

#endif
