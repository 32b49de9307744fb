/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The message method of durable operations: a control queue pair beside the queue pair of
 * a connection (pvb_control_qp), over which an initiator asks the target's processor to
 * make ranges durable. No receive of the application's is used, and its data is not
 * copied.
 *
 * A control queue pair's area is what the peer may write, read and change by atomics: the
 * sequence word, which a fetch-and-add on the connection's queue pair moves, and the ring
 * of entries that travel ahead of durable sends and writes with data. An atomic executes
 * after the writes before it, so a request whose number the sequence word shows finds the
 * data it is about.
 *
 * Requests wait for their answers one behind the other; the number that may be
 * outstanding is bounded, and so are the receives of the control queue pair.
 *
 * What a request asks for is done in pieces of a bounded number of bytes, of one control
 * queue pair after the other: persist/target/respond.c; so is what a large durable
 * message brought: persist/target/arrival.c. Whoever looks at the control queues does one
 * of them (pvb_turn).
 *
 * Locks: control->lock (a mutex, for the thread of thread.c shares it): polling
 * the control queues, the lists of control queue pairs and regions, a control queue
 * pair's inbox. Nobody holds it while memory is flushed: a piece holds on to its control
 * queue pair (PVB_*_WORK) and its regions (pvb_pmem_region.users), and who wants to close
 * one waits for control->ended. cqp->lock: posting to the control queue pair. Neither is
 * held when a lock of objects.h is taken; pvb_qp.tx_lock and pvb_cq.lock may be held
 * when one of them is taken.
 */
#ifndef PVB_PERSIST_CONTROL_CONTROL_H
#define PVB_PERSIST_CONTROL_CONTROL_H

#include <pthread.h>
#include "persist/plan/plan.h"
#include "wire/wire.h"
#include "control_conn.h"
#include "objects/objects.h"

/* Requests, and apart from them ring entries, that wait for an answer, of each control
 * queue pair. */
#define PVB_CONTROL_CREDITS 16u
/* Messages outstanding: requests, answers to requests and to entries, and where receives
 * are. */
#define PVB_CONTROL_MESSAGES (3 * PVB_CONTROL_CREDITS + 1)
/* Bytes that one request may ask to be made durable. */
#define PVB_FLUSH_LIMIT (1ull << 30)
/* Bytes that are flushed before other connections are served: about 50 us. */
#define PVB_PIECE (32u << 10)

/* What a peer may write to. Its size is part of what peers agree on. */
struct pvb_area {
	_Alignas(64) _Atomic uint64_t seq_word;
	_Alignas(64) uint8_t ring[PVB_CONTROL_CREDITS][PVB_WIRE_ENTRY];
};

/* Outstanding requests to the peer, or ring entries. */
struct pvb_control_requests {
	_Atomic uint32_t posted;   /* with tx_lock; before it can be answered */
	_Atomic uint32_t answered; /* by the thread that polls the control queue */
	struct {
		uint16_t status;   /* FI_E*, once answered */
		uint64_t deadline; /* crn_now_ms */
		bool messages; /* about those sent before: persist/initiator/sends.c */
		/* Not sent yet: after what the send queue has to do first. */
		_Atomic(struct pvb_wire_message *) later;
	} of[PVB_CONTROL_CREDITS]; /* number modulo credits */
};

enum pvb_request_kind { PVB_REQUEST_CONTROL, PVB_REQUEST_ENTRY, PVB_REQUEST_KINDS };

/* Where the oldest request of a control queue pair's inbox stands. */
enum pvb_inbox {
	PVB_INBOX_EMPTY, /* there is none */
	PVB_INBOX_WAITS, /* for its sequence word or a place for its answer:
			    control->waits */
	PVB_INBOX_READY, /* for its next piece: control->ready */
	PVB_INBOX_WORK,	 /* a thread is at a piece of it, without the lock */
};

/* Something that is done in pieces, of control->ready; the rest with control->lock held.
 */
struct pvb_turn {
	struct crn_list entry;
	/*
	 * A piece, of most bytes at most. It has to leave control->ready first, and may
	 * come back. The lock is not held meanwhile. Returns what it cost, in bytes, most
	 * at most.
	 */
	uint64_t (*run)(struct pvb_turn *turn, uint64_t most);
};

/* Cost of a piece beside its bytes, also of a piece without any. */
#define PVB_PIECE_COST 512u

/* Progress of a request: everything before byte at of a range is done. */
struct pvb_progress {
	bool begun; /* it was checked as a whole */
	uint8_t range;
	uint64_t at;
};

/* A receive that completed. */
struct pvb_arrival {
	struct ibv_wc wc;
	struct pvb_arrival *next;    /* that one's completion waits for this one's */
	bool kept;		     /* reported to the program once it is durable */
	bool durable;		     /* an answer tells the peer so, */
	uint32_t number;	     /* as of that entry of the message ring, */
	struct pvb_wire_range range; /* which says where a write with data wrote */
};

/* Where in persistent memory a message is; rkey means nothing. */
struct pvb_places {
	struct pvb_wire_range place[PVB_IOV_LIMIT];
	uint32_t count;
};

enum pvb_arrival_state {
	PVB_ARRIVAL_IDLE,  /* the oldest has not begun */
	PVB_ARRIVAL_READY, /* for its next piece: control->ready */
	PVB_ARRIVAL_WORK,  /* a thread is at it, without the lock */
	PVB_ARRIVAL_DONE,  /* it is durable, or cannot be */
};

/* Receives whose completions wait: persist/target/arrival.c. */
struct pvb_arrivals {
	struct pvb_defer_source source; /* with pvb_cq.lock, as the next three */
	struct pvb_arrival *oldest, *newest;
	bool closed; /* the endpoint is: none waits any more */
	_Atomic enum pvb_arrival_state state;
	struct pvb_turn turn;
	/* Of the oldest; with control->lock from READY to WORK. */
	struct pvb_places places;
	uint32_t at;   /* the place that is flushed, */
	uint64_t done; /* bytes of it */
	int err;       /* FI_E*, why not all of it is durable */
};

struct pvb_control_recv {
	struct pvb_control_qp *control_qp;
	uint8_t *buf; /* PVB_WIRE_SIZE bytes */
};

struct pvb_control_qp {
	struct crn_list entry; /* of control->control_qps */
	struct pvb_control *control;
	struct pvb_qp *qp;
	struct pvb_area *area;
	struct ibv_mr *area_mr;
	struct ibv_mw *window; /* window.c; NULL: peers reach the area by its region */
	uint32_t area_key;     /* by which the peer does */
	uint8_t *bufs;	       /* receives, then entry_out */
	struct ibv_mr *bufs_mr;
	_Atomic(uint8_t *) sends_buf; /* sends: NULL until the first */
	struct ibv_mr *sends_mr;
	struct ibv_qp *ibv;
	struct pvb_hwcq *hw;
	uint32_t psn;		/* our first packet's */
	struct crn_lock lock;	/* guards sends, kept, owed */
	_Atomic uint32_t sends; /* posted */
	uint32_t kept;		/* places for answers that are not posted yet */
	_Atomic uint32_t sent;
	/* Answers to ring entries that found no place, oldest first. */
	struct {
		uint32_t number;
		uint16_t status; /* FI_E* */
	} owed[PVB_CONTROL_CREDITS];
	uint32_t owed_head, owed_count;
	uint32_t receives; /* posted and not completed */
	struct pvb_control_recv recv[PVB_CONTROL_MESSAGES];
	atomic_bool up;			      /* both sides have one, */
	union crn_addr peer;		      /* its address, for the log */
	atomic_bool lost;		      /* nothing will be answered any more */
	struct pvb_control_conn control_conn; /* iWARP */
	/* As initiator. */
	uint8_t (
		*entry_out)[PVB_WIRE_ENTRY]; /* entries on their way to the peer's ring */
	struct pvb_control_requests requests[PVB_REQUEST_KINDS];
	uint32_t seq_posted; /* fetch-and-adds posted */
	/* The peer's announcement of its receives: persist/target/replay.c. */
	struct {
		atomic_bool known; /* the rest is set */
		struct pvb_key_attr key_attr;
		uint64_t addr;
		uint64_t key;
	} replay;
	/* As target: requests not handled yet, oldest first. */
	struct pvb_control_recv *inbox[PVB_CONTROL_CREDITS];
	uint32_t inbox_len[PVB_CONTROL_CREDITS]; /* bytes */
	uint32_t inbox_head, inbox_count;
	enum pvb_inbox inbox_state;
	struct pvb_turn turn; /* of control->waits or control->ready */
	uint64_t since;	      /* crn_now_ms when the oldest began to wait */
	struct pvb_progress progress;
	uint32_t handled; /* requests */
	bool refusing;	  /* one of the last could not be done: */
	uint32_t refused; /* the newest such request */
	/*
	 * Sends and writes with data: the number that arrived, and of those the number
	 * handled.
	 */
	uint32_t arrived;
	_Atomic uint32_t messages;
	uint32_t entries; /* of the ring, matched */
	struct pvb_arrivals arrivals;
	/* Where plain messages were received that are not durable yet:
	 * persist/target/received.c. */
	struct pvb_dirty received; /* with control->lock; rkey: the region's */
	struct pvb_dirty flushing; /* what of it the oldest request is about; the same */
	atomic_int undurable;	   /* FI_E*, why not all of them can be; 0: they can */
};

/* Handlers of persist/target/ for messages of a peer. With pvb_control.lock held. */
struct pvb_target {
	/* Without the lock: a control queue pair is about to be used. */
	void (*open)(struct pvb_control_qp *cqp);
	/* A request arrived in its empty inbox. */
	void (*request)(struct pvb_control_qp *cqp);
	/* Looks again at those that wait. */
	void (*retry)(struct pvb_control *control);
	/* Stops executing requests of the inbox; waits for a piece in progress. */
	void (*end)(struct pvb_control_qp *cqp);
	/* Where the peer's receives are. */
	void (*replay)(struct pvb_control_qp *cqp,
		       const struct pvb_wire_message *message);
};

struct pvb_control {
	struct pvb_domain *domain;
	const struct pvb_target *target;
	struct pvb_cq *cq; /* its device queues are those of the control queue pairs */
	pthread_mutex_t lock;
	pthread_cond_t ended; /* a piece */
	struct crn_list control_qps;
	struct crn_list zombies; /* closed, and the device has not returned everything */
	struct crn_list regions;
	struct crn_list waits;	 /* control queue pairs by their turn */
	struct crn_list ready;	 /* pvb_turn, in the order of turns */
	atomic_uint runnable;	 /* of ready */
	atomic_uint waiting;	 /* of waits */
	_Atomic uint64_t newest; /* crn_now_ms when the last of them began */
	atomic_bool fresh;	 /* its sequence word was not polled since then */
	atomic_uint deferring;	 /* connections that defer completions */
	int timer;		 /* ticks while one of these is not 0, and once more */
	atomic_uint ticks;	 /* ms between two of them; 0: it is off */
	bool threaded;		 /* thread.c */
	pthread_t thread;
	int kick; /* eventfd: the thread looks again */
	atomic_bool stopping;
};

static inline const struct pvb_slot *pvb_wc_slot(const struct ibv_wc *wc)
{
	return (const struct pvb_slot *)(uintptr_t)wc->wr_id;
}

/* control.c */

/* 0 and domain->control, or a negative code. */
int pvb_control_open(struct pvb_domain *domain, const struct pvb_target *target);
void pvb_control_close(struct pvb_control *control);
/* Handles what arrived; false: another thread is doing that. */
bool pvb_control_take(struct pvb_control *control);
/*
 * With the lock held, as the next two: lets another thread continue the work that is
 * left.
 */
void pvb_control_pass(struct pvb_control *control);
/* It has a piece to be done, behind the others; it has none any more, or one is begun. */
void pvb_turn_begin(struct pvb_control *control, struct pvb_turn *turn);
void pvb_turn_end(struct pvb_control *control, struct pvb_turn *turn);

/* Handles what arrived, and executes a piece of the work that peers requested. */
bool pvb_control_progress(struct pvb_control *control);
/* The same; later arrivals, and work that is left, raise an event on the channel. 0 or
 * a negative code. */
int pvb_control_arm(struct pvb_control *control);
/* Adds its descriptors to those that wait watches. 0 or a negative code. */
int pvb_control_watch(struct pvb_control *control, struct crn_wait *wait);

/* tick.c */

/* Starts the timer: something waits for time to pass. */
void pvb_tick(struct pvb_control *control);

/* thread.c */

/* Handles requests of peers while the program does something else. */
int pvb_control_thread_start(struct pvb_control *control);

/* control_qp.c */

/* The control queue pair of a connection that has its queue pair: 0, or a negative code.
 */
int pvb_control_qp_open(struct pvb_qp *qp);
void pvb_control_qp_close(struct pvb_qp *qp);
/* There is memory to send from: 0 or a negative code. Takes the lock. */
int pvb_control_qp_make_ready(struct pvb_control_qp *cqp);
static inline int pvb_control_qp_ready(struct pvb_control_qp *cqp)
{
	return crn_likely(atomic_load(&cqp->sends_buf) != NULL)
		       ? 0
		       : pvb_control_qp_make_ready(cqp);
}

/* Posts a message; true: it is outstanding. */
bool pvb_control_qp_send(struct pvb_control_qp *cqp,
			 const struct pvb_wire_message *message);
/* Reserves a send for an answer that is not known yet; false: there is none. */
bool pvb_control_qp_keep(struct pvb_control_qp *cqp);
/* Posts it to its place: as pvb_control_qp_send. */
bool pvb_control_qp_send_kept(struct pvb_control_qp *cqp,
			      const struct pvb_wire_message *message);
/* Answers an entry of the message ring, now or once there is a place; false: the peer has
 * more of them than it may. */
bool pvb_control_qp_answer(struct pvb_control_qp *cqp, uint32_t number, uint16_t status);
/* As pvb_control_qp_send once the entry of the send queue that belongs to the request
 * completes: false without memory. */
bool pvb_control_qp_later(struct pvb_control_qp *cqp,
			  const struct pvb_wire_message *message);
void pvb_control_qp_now(struct pvb_control_qp *cqp, uint32_t number);
/* Cancels a message of pvb_control_qp_later. */
void pvb_control_qp_cancel(struct pvb_control_qp *cqp, uint32_t number);
/* A buffer for the next message. */
int pvb_control_qp_receive(struct pvb_control_recv *recv);

#endif
