/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shared segment of a process: everything of it that a peer has to touch.
 *
 * A sparse file, "seg.INDEX" in the directory, of which only what is in use has memory
 * behind it (fallocate: a full /dev/shm is ENOMEM at creation, never a signal later). Its
 * owner allocates; peers map it and read, and write only under the locks that lie in it.
 * Pointers never cross: objects name each other by slot, rings by offset.
 */
#ifndef SVB_SHARED_SEGMENT_H
#define SVB_SHARED_SEGMENT_H

#include <infiniband/verbs.h>
#include "lock.h"
#include "registry.h"
#include "settings/settings.h"

#define SVB_MAGIC 0x62767331u
#define SVB_ABI 7u
#define SVB_SEG_SIZE (4ull << 30)

/* A queue pair's number is its process' index and its slot there (SVB_QP_BITS). */
#define SVB_QP_SLOT(qpn) ((qpn) & ((1u << SVB_QP_BITS) - 1))
#define SVB_QP_PROC(qpn) ((qpn) >> SVB_QP_BITS)
/* Numbers of queue pairs have 24 bits (IB specification 1.7, 9.2.2). */
_Static_assert(SVB_PROC_BITS + SVB_QP_BITS <= 24, "a queue pair number has 24 bits");

#define SVB_LINE __attribute__((aligned(64)))

enum svb_table {
	SVB_TAB_MR,
	SVB_TAB_QP,
	SVB_TAB_CQ,
	SVB_TAB_SRQ,
	SVB_TAB_MCAST,
	SVB_TABLES
};

/*
 * A memory region or a bound memory window. A key is slot << 8 | tag; the tag changes
 * with each use of the slot, so a key kept too long is noticed.
 */
struct svb_mr_sh {
	uint32_t key;	 /* 0: not registered; written last */
	uint32_t access; /* enum ibv_access_flags and SVB_ACCESS_FLUSH_* */
	uint32_t pd;
	uint32_t qpn;	  /* memory windows: bound to this queue pair; 0: regions */
	uint64_t iova;	  /* what a request calls the first byte */
	uint64_t length;  /* bytes */
	uint64_t addr;	  /* where the first byte lies in the owner's memory */
	uint32_t parent;  /* memory windows: slot of the region */
	uint32_t windows; /* regions: how many windows are bound to it */
	uint32_t tag;	  /* of the newest key */
	uint32_t flags;	  /* SVB_MR_* */
	uint64_t medium;  /* with SVB_MR_PERSISTENT: where in the file the first byte lies
			   */
};
#define SVB_MR_USED 1u
#define SVB_MR_WINDOW 2u     /* a type 2 memory window */
#define SVB_MR_PERSISTENT 4u /* lies in the persistent file */

/* Why a send queue stands still. */
enum svb_wait {
	SVB_WAIT_NONE,
	SVB_WAIT_RNR,	/* no receive posted */
	SVB_WAIT_RETRY, /* nobody answers */
	SVB_WAIT_DUE,	/* latency: its time has not come */
};

/*
 * Counters run freely; a slot of the ring is counter & mask. done follows the program's
 * polling, so a queue is full for as long as on an adapter.
 */
struct svb_sq {
	struct svb_lock lock;
	uint32_t head;	/* next to be posted */
	uint32_t next;	/* next to be executed */
	uint32_t done;	/* first not known to be complete to the program */
	uint32_t limit; /* most between done and head */
	uint32_t mask;
	uint32_t stride;     /* bytes from one to the next */
	uint32_t wait;	     /* enum svb_wait */
	uint64_t ring;	     /* offset */
	uint64_t deadline;   /* ns, CLOCK_MONOTONIC: when waiting ends; 0: never */
	uint32_t committing; /* next + 1 while its completion is being written, else 0 */
	uint32_t ahead;	     /* model/model.h: next to be handed to the machine */
} SVB_LINE;

struct svb_rq {
	struct svb_lock lock;
	uint32_t head;
	uint32_t next;
	uint32_t done;
	uint32_t limit;
	uint32_t mask;
	uint32_t stride;
	uint32_t waiting; /* a sender found it empty */
	uint64_t ring;
	uint32_t max_sge;
	uint32_t unused[5];
} SVB_LINE;

/*
 * How an RC queue pair cuts messages into packets and numbers them: the first packet's
 * number, and enum ibv_mtu << SVB_PSN_BITS.
 */
#define SVB_PSN_BITS 24
#define SVB_PSN_MASK ((1u << SVB_PSN_BITS) - 1)

struct svb_qp_sh {
	uint32_t state; /* enum ibv_qp_state; SVB_QP_FREE */
	uint32_t type;
	/* Whose packets of which kind; and those it expects. Each is compared in one
	 * piece, with the peer's other: svb_rc_connected. */
	union {
		struct {
			uint32_t qpn;
			uint32_t packets;
		};
		uint64_t sends;
	};
	union {
		struct {
			uint32_t dest_qpn;
			uint32_t dest_packets;
		};
		uint64_t expects;
	};
	uint32_t pd;
	uint32_t access;
	uint32_t send_cq; /* slots */
	uint32_t recv_cq;
	uint32_t srq; /* slot + 1; 0: none */
	uint32_t sig_all;
	/*
	 * Where it is: index of the port in the settings (ports.h), and partition, a
	 * P_Key without its high bit. And where the peer of an RC queue pair has to be,
	 * the address vector's port; both are compared in one piece: svb_rc_answers.
	 */
	union {
		struct {
			uint32_t port;
			uint32_t partition;
		};
		uint64_t place;
	};
	union {
		struct {
			uint32_t dest_port;
			uint32_t
				dest_partition; /* SVB_PARTITION_FULL: of a full member */
		};
		uint64_t dest_place;
	};
	uint32_t pkey; /* as in the port's table */
	uint32_t qkey;
	uint32_t flags; /* SVB_QP_* */
	struct svb_sq sq;
	struct svb_rq rq;
	/* A receive taken from a shared queue and not complete yet: its wr_id. */
	uint64_t taken_wr_id;
	uint32_t taken;
	uint32_t events; /* 1 << enum ibv_event_type, not yet read */
	struct ibv_qp_attr
		attr; /* as modified; for queries, timers and the wire's fields */
	struct ibv_qp_cap cap;
	uint32_t async; /* bell of the context (bell.h) */
} SVB_LINE;
#define SVB_QP_FREE 0xffffu
/* No port has these indices: what is sent to the first is not answered, and nobody sends
 * to the second, where a queue pair is whose port is down. */
#define SVB_NOWHERE UINT32_MAX
#define SVB_AWAY (UINT32_MAX - 1)
/* No partition: what a limited member expects is compared by svb_rc_limited. */
#define SVB_PARTITION_FULL 0x10000u
#define SVB_QP_NO_MCAST_LOOP 1u
#define SVB_QP_MUST_FLUSH 2u  /* went to the error state under somebody else's lock */
#define SVB_QP_ESTABLISHED 4u /* has received: IBV_EVENT_COMM_EST was given */

/* struct ibv_wc, and which counter the program's reading it moves: an offset and a value.
 */
struct svb_cqe {
	struct ibv_wc wc;
	uint32_t release;
	uint32_t release_to;
	uint64_t time; /* ns; only with timestamps */
} SVB_LINE;

struct svb_cq_sh {
	struct svb_lock lock; /* of producers and of arming; the consumer has its own */
	uint32_t tail;
	uint32_t mask;
	uint32_t limit;
	uint32_t armed; /* enum svb_armed */
	uint32_t bell;	/* of the channel, bell.h; 0: none */
	uint64_t ring;
	uint32_t used;	/* this slot is a completion queue */
	uint32_t flags; /* SVB_CQ_* */
	uint32_t async;
	uint32_t asyncs; /* 1 << enum ibv_event_type, not yet read */
	uint32_t head SVB_LINE;
	uint32_t events; /* completion events not yet read */
} SVB_LINE;
enum svb_armed { SVB_ARMED_NOT, SVB_ARMED_ANY, SVB_ARMED_SOLICITED };
#define SVB_CQ_ERROR 1u
#define SVB_CQ_IGNORE_OVERRUN 2u
#define SVB_CQ_TIMESTAMPS 4u
#define SVB_CQ_MUTE 8u /* takes nothing any more: verbs/removal.h */

struct svb_srq_sh {
	struct svb_rq rq;
	uint32_t used;
	uint32_t pd;
	uint32_t limit_event; /* armed limit; 0: none */
	uint32_t async;
	uint32_t events;
	uint32_t unused[11];
} SVB_LINE;

struct svb_mcast_sh {
	union ibv_gid gid;
	uint32_t qpn; /* 0: unused; written last */
	uint32_t lid;
	uint32_t lost; /* the group was, with all its members here: svb_mcast_lose */
	uint32_t unused;
};

/* What others ask of the thread that copies for them: engine/relay.h. */
#define SVB_RELAY_PIECES 32
struct svb_relay_sh {
	struct svb_lock lock; /* of who asks */
	uint32_t bell;	      /* of the thread; 0: none runs */
	uint32_t wanted;      /* somebody asked and there was none */
	uint32_t state;	      /* enum svb_relay_state */
	uint32_t from;	      /* token of who asks */
	uint32_t write;	      /* to the memory of this process, else from it */
	uint32_t count;
	uint32_t result;  /* errno */
	uint64_t staging; /* offset in the segment of who asks */
	struct {
		uint64_t at; /* address here */
		uint64_t len;
	} piece[SVB_RELAY_PIECES];
};
enum svb_relay_state { SVB_RELAY_FREE, SVB_RELAY_ASKED, SVB_RELAY_BUSY, SVB_RELAY_DONE };

struct svb_seg {
	uint32_t magic;
	uint32_t abi;
	uint32_t index;
	uint32_t generation;
	uint32_t pid;
	uint32_t machine; /* the modelled machine it is on, model/medium.h; 0: none */
	uint64_t start_time;
	/* How many slots of each table have memory behind them: look no further. */
	uint32_t limit[SVB_TABLES];
	uint32_t mcast_end; /* attachments: no slot from here on is in use */
	/* Earliest deadline of a send queue of this process, ns; 0: none. */
	uint64_t next_deadline;
	/* Its service thread does not look at that before, ns; 0: it is about to. */
	uint64_t sleeps_until;
	/* All atomic operations on this process' memory happen under this lock. */
	struct svb_lock atomic_lock;
	uint32_t service; /* its service thread runs: ring SVB_BELL_SERVICE */
	/* What the connection manager keeps here: an offset from svb_seg_alloc, 0:
	 * nothing. */
	uint64_t cm;
	uint32_t cm_bell;  /* its bell; 0: none */
	uint32_t mtu;	   /* of its devices: enum ibv_mtu */
	uint64_t nothing;  /* where completions point that release no slot */
	uint64_t heap_top; /* no byte of the heap beyond this offset was ever in use */
	struct svb_relay_sh relay;
};

/* Where the slots of each table begin: SVB_MAX_MR and so on of settings.h are there. */
#define SVB_OFF_MR 4096ull
#define SVB_OFF_QP (SVB_OFF_MR + SVB_MAX_MR * sizeof(struct svb_mr_sh))
#define SVB_OFF_CQ (SVB_OFF_QP + SVB_MAX_QP * sizeof(struct svb_qp_sh))
#define SVB_OFF_SRQ (SVB_OFF_CQ + SVB_MAX_CQ * sizeof(struct svb_cq_sh))
#define SVB_OFF_MCAST (SVB_OFF_SRQ + SVB_MAX_SRQ * sizeof(struct svb_srq_sh))
#define SVB_OFF_HEAP \
	((SVB_OFF_MCAST + SVB_MAX_MCAST * sizeof(struct svb_mcast_sh) + 4095) & ~4095ull)

SVB_INLINE void *svb_seg_at(struct svb_seg *seg, uint64_t offset)
{
	return (char *)seg + offset;
}

/* A slot of a table, which must be below limit. */
#define SVB_SLOT(name, NAME)                                                             \
	SVB_INLINE struct svb_##name##_sh *svb_seg_##name(struct svb_seg *seg,           \
							  uint32_t slot)                 \
	{                                                                                \
		return (struct svb_##name##_sh *)svb_seg_at(seg, SVB_OFF_##NAME) + slot; \
	}                                                                                \
	/* NULL beyond the end. */                                                       \
	SVB_INLINE struct svb_##name##_sh *svb_seg_##name##_try(struct svb_seg *seg,     \
								uint32_t slot)           \
	{                                                                                \
		if (slot >=                                                              \
		    __atomic_load_n(&seg->limit[SVB_TAB_##NAME], __ATOMIC_ACQUIRE))      \
			return NULL;                                                     \
		return svb_seg_##name(seg, slot);                                        \
	}
SVB_SLOT(mr, MR)
SVB_SLOT(qp, QP)
SVB_SLOT(cq, CQ)
SVB_SLOT(srq, SRQ)
SVB_SLOT(mcast, MCAST)
#undef SVB_SLOT

/* Makes and maps this process' segment: svb_self.seg. Returns 0 or an errno. */
int svb_seg_create(void);
void svb_seg_destroy(void);

/* Around a fork: the books are not half changed when it happens. */
void svb_seg_hold(void);
void svb_seg_let_go(void);

/*
 * After a fork, in the child: the parent's segment becomes a private copy in which
 * nothing is connected, so objects inherited from the parent do no harm and reach nobody.
 */
void svb_seg_detach(void);

/*
 * A zeroed range of the own segment, page aligned; its offset, or 0 with errno ENOMEM.
 * Thread safe, like the following four.
 */
uint64_t svb_seg_alloc(uint64_t size);
void svb_seg_free(uint64_t offset, uint64_t size);

/* A free slot of a table of the own segment, or -1 with errno ENOMEM. Freed slots rest.
 */
int64_t svb_slot_alloc(enum svb_table table);
void svb_slot_free(enum svb_table table, uint32_t slot);
/* keys.c: which of limit slots a region gets if it is free, and the tag of its key
 * if the slot's last one was old (0: none). */
uint32_t svb_key_slot(uint32_t limit);
uint32_t svb_key_tag(uint32_t old);

/*
 * The segment of a process, or NULL when no process has that index. The mapping stays
 * until another process gets the index.
 */
struct svb_seg *svb_seg_of(uint32_t index);

/* True when len bytes at offset lie inside a segment and its tables are not among them.
 */
static inline bool svb_seg_holds(uint64_t offset, uint64_t len)
{
	return offset >= SVB_OFF_HEAP && offset <= SVB_SEG_SIZE &&
	       len <= SVB_SEG_SIZE - offset;
}

#endif
