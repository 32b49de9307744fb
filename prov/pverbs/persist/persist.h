/* SPDX-License-Identifier: BSD-2-Clause */
/* Durable operations: the interface for the rest of the provider. */
#ifndef PVB_PERSIST_PERSIST_H
#define PVB_PERSIST_PERSIST_H

#include "persist/control/control.h"
#include "persist/facts/facts.h"
#include "persist/initiator/initiator.h"
#include "persist/target/target.h"
#include "wire/wire.h"
#include "objects.h"

struct pvb_cm_event;
struct pvb_op;

/* initiator/commit.c */

/* 0 or -FI_ENOMEM: qp has a pvb_commit. */
int pvb_commit_open(struct pvb_qp *qp);
void pvb_commit_close(struct pvb_qp *qp);

/*
 * pvb_tx for an operation with FI_COMMIT_COMPLETE. -FI_EOPNOTSUPP: the
 * memory is not persistent, or there is no way to make sure; -FI_EKEYREJECTED: its key is
 * damaged. Takes the lock.
 */
ssize_t pvb_tx_committed(struct pvb_ep *ep, struct pvb_op *op);
/* The same for an operation without the flag on a connection with persistent memory:
 * records what it writes, and refuses it with -FI_EAGAIN while it would overtake a
 * hazard. Takes the lock. */
ssize_t pvb_tx_tracked(struct pvb_ep *ep, struct pvb_op *op);

/* control/control.c */

/* For a domain that may have durable connections: 0 and domain->control, or a negative
 * code. */
int pvb_control_open(struct pvb_domain *domain);
void pvb_control_close(struct pvb_control *control);
/* The same, and does a piece of the work that peers requested. */
bool pvb_control_progress(struct pvb_control *control);
/* The same, and what comes later raises an event on the channel, as what is left to do
 * does. 0 or a negative code. */
int pvb_control_arm(struct pvb_control *control);
/* Adds its descriptors to those that wait watches. 0 or a negative code. */
int pvb_control_watch(struct pvb_control *control, struct crn_wait *wait);

/* control/control_qp.c */

/* The control queue pair of a connection that has its queue pair: 0, or a negative code.
 */
int pvb_control_qp_open(struct pvb_qp *qp);
void pvb_control_qp_close(struct pvb_qp *qp);
/* To ready-to-send, on the path of the connection, to the peer's queue pair. */
int pvb_control_qp_connect(struct pvb_control_qp *cqp);
/* The connection's queue pair is ready to send, and the peer does not know: 0 and the
 * peer reaches the area, or a negative code. */
int pvb_control_qp_expose(struct pvb_control_qp *cqp);
/* The control queue pair is of no use any more. */
void pvb_control_qp_lose(struct pvb_control_qp *cqp, const char *why);

/* target/pmem_region.c */

/* Adds a region; removes it, once no thread flushes it. Takes the lock. 0 or a negative
 * code. */
int pvb_pmem_region_add(struct pvb_control *control, struct pvb_pmem_region *region);
void pvb_pmem_region_del(struct pvb_control *control, struct pvb_pmem_region *region);

/* target/message_ring.c */

/* wq remembers where its receives go, of at most limit pieces each. 0 or -FI_ENOMEM. */
int pvb_bufs_open(struct pvb_wq *wq, size_t slots, size_t limit);

/* What a wq has for that; it may have nothing. */
void pvb_bufs_close(struct pvb_wq *wq);
/* Where the receive in slot goes, of a wq with bufs. 0, or -FI_EINVAL:
 * that is not where the endpoint's receives have to be. */
int pvb_bufs_note(struct pvb_wq *wq, const struct pvb_slot *slot,
		  const struct ibv_recv_wr *wr);

/* target/arrival.c */

/* pvb_wq.on_complete of the receives of a connection with a control queue pair. */
bool pvb_arrival(struct pvb_cq *cq, struct pvb_wq *wq, const struct ibv_wc *wc,
		 struct pvb_comp *comp);
/* Those that wait are cancelled: the endpoint is about to be closed, or the device is
 * gone. */
void pvb_arrival_abandon(struct pvb_cq *cq, struct pvb_qp *qp);
/* The same, and none waits any more. */
void pvb_arrivals_close(struct pvb_cq *cq, struct pvb_qp *qp);

/* target/replay.c */

/* FI_OPT_CAIRN_REPLAY. 0 or a negative code. */
int pvb_replay_set(struct pvb_ep *ep, const void *optval, size_t optlen);
void pvb_replay_end(struct pvb_ep *ep);
/* The connection is up: sends the address of the receives to the peer. */
void pvb_replay_announce(struct pvb_ep *ep);

/* initiator/group.c */

/* Is there one that has not ended? */
bool pvb_group_open(const struct pvb_qp *qp);
/* Posts what makes all of the group durable. 0 or a negative code. */
int pvb_group_close(struct pvb_ep *ep);

/* facts/facts.c */

/*
 * Facts of len bytes at addr as verbs' device would make them visible. desc.persistent is
 * false when nothing says that all of it is persistent; kind and where are then about the
 * first part that is not. desc.flush and desc.atomic_write say what the device offers;
 * whether a registration got it, the caller decides; desc.readable is false. 0 or a
 * negative code: a configuration file that cannot be read is -FI_EINVAL, and said in the
 * log; -FI_EFAULT: part of it is not mapped.
 */
int pvb_facts_of(struct ibv_context *verbs, const void *addr, size_t len,
		 struct pvb_facts *facts);

/* "default", "detected", "declared" */
const char *pvb_source_name(enum pvb_source source);
/* "DMP", "MHP", "WSP" */
const char *pvb_persistence_name(enum pvb_persistence domain);

/* initiator/defer.c */

/* Is it to be deferred? Then all is noted, and the completion is the program's later. */
bool pvb_defer(struct pvb_cq *cq, const struct ibv_wc *wc, struct pvb_slot *slot);
/* What may be reported now goes to the stash, as far as it has room. */
void pvb_defer_release(struct pvb_cq *cq);
/* Without the lock: a program that reads no event queue learns of the end of a connection
 * by the operations that wait for its target. */
void pvb_defer_look(struct pvb_cq *cq);
/* The endpoint is closed. */
void pvb_defer_forget(struct pvb_qp *qp);

/* control/control_conn.c */

void pvb_control_conn_open(struct pvb_eq *eq);
void pvb_control_conn_close(struct pvb_eq *eq);

/* The first connection stands: does FI_CONNECTED have to wait? Then begin is called,
 * which ends in pvb_cm_control_conn_over. With cm_lock held. */
bool pvb_control_conn_wanted(const struct pvb_ep *ep);
/* With cm_lock held. */
void pvb_control_conn_begin(struct pvb_ep *ep);
/* With cm_lock held. */
void pvb_control_conn_event(struct pvb_control_qp *cqp, const struct pvb_cm_event *event);
/* Handles what other threads had for control queue pairs of the queue, and whose time is
 * over. With cm_lock held. */
void pvb_control_conn_progress(struct pvb_eq *eq);
/* The peer disconnected the first one: pvb_cm_disconnected follows, from progress. With
 * cm_lock held. */
void pvb_control_conn_gone(struct pvb_ep *ep);
/* There will be none any more; any state. With cm_lock held. */
void pvb_control_conn_end(struct pvb_ep *ep);

/* control/cookie.c */

/* With cm_lock held. */
void pvb_control_conn_listen(struct pvb_pep *pep);
/* With cm_lock held. */
void pvb_control_conn_unlisten(struct pvb_pep *pep);
/* Is that a passive endpoint of the fabric? The handle is not followed. With cm_lock
 * held. */
bool pvb_pep_is(struct pvb_fabric *fabric, const struct fid *handle);
/* A responder with a control queue pair is about to answer: the cookie, or 0: there will
 * be none. With cm_lock held. */
uint64_t pvb_control_conn_expect(struct pvb_ep *ep);
/* A connection request: false when it is an ordinary one. With cm_lock held. */
bool pvb_control_conn_request(struct pvb_pep *pep, const struct pvb_cm_event *event);

#endif
