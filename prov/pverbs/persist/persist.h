/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Durable operations: the interface for domains, endpoints, regions and connections.
 * Rooms below persist/ call it through the table (struct pvb_durable).
 */
#ifndef PVB_PERSIST_PERSIST_H
#define PVB_PERSIST_PERSIST_H

#include "facts/facts.h"
#include "objects/objects.h"

struct fi_cairn_ops_replay;
struct fi_cairn_stats;
struct pvb_cm_event;
struct pvb_cm_offer;

/* durable.c */

/* Of every domain. */
extern const struct pvb_durable pvb_durable;
/* For a domain that may have durable connections: 0 and domain->control, or a negative
 * code. */
int pvb_durable_open_domain(struct pvb_domain *domain);
void pvb_durable_close_domain(struct pvb_domain *domain);
/* Prepares an endpoint, whose queue pair is in INIT, for durable operations: 0 or a
 * negative code. */
int pvb_durable_open(struct pvb_ep *ep);
/* First, before the queue pair is destroyed; second, after that. */
void pvb_durable_close(struct pvb_qp *qp);
void pvb_durable_free(struct pvb_qp *qp);
/* The counts of durable operations. With tx_lock held. */
void pvb_durable_stats(const struct pvb_qp *qp, struct fi_cairn_stats *stats);

/* control/control_qp.c */

/* Adds the control queue pair, if there is one, to the private data for the peer. */
void pvb_control_qp_offer(const struct pvb_ep *ep, struct pvb_cm_offer *offer);
/* To ready-to-send, on the path of the connection, to the peer's queue pair. */
int pvb_control_qp_connect(struct pvb_control_qp *cqp);
/* The connection's queue pair is ready to send, and the peer does not know: 0 and the
 * peer reaches the area, or a negative code. */
int pvb_control_qp_expose(struct pvb_control_qp *cqp);
/*
 * Gives up the control queue pair: durable operations that need it fail; why is for the
 * log.
 */
void pvb_control_qp_lose(struct pvb_control_qp *cqp, const char *why);

/* control/control_conn.c */

void pvb_control_conn_open(struct pvb_eq *eq);
void pvb_control_conn_close(struct pvb_eq *eq);

/* The first connection stands: does FI_CONNECTED have to wait? Then begin is called,
 * which ends in pvb_cm_control_conn_over. With cm_lock held. */
bool pvb_control_conn_wanted(const struct pvb_ep *ep);
/* With cm_lock held. */
void pvb_control_conn_begin(struct pvb_ep *ep);
/* fid: the context of the control connection's id. With cm_lock held. */
void pvb_control_conn_event(struct fid *fid, const struct pvb_cm_event *event);
/* Handles what other threads had for control queue pairs of the queue, and whose time is
 * over. With cm_lock held. */
void pvb_control_conn_progress(struct pvb_eq *eq);
/* The peer disconnected the first one: pvb_cm_disconnected follows, from progress. With
 * cm_lock held. */
void pvb_control_conn_gone(struct pvb_ep *ep);
/* Ends the control connection in any state. With cm_lock held. */
void pvb_control_conn_end(struct pvb_ep *ep);

/* control/cookie.c */

/* Registers a listener for requests of control connections; removes it. */
void pvb_control_conn_listen(struct pvb_pep *pep);
void pvb_control_conn_unlisten(struct pvb_pep *pep);
/* Is that a passive endpoint of the fabric? The handle is not followed. */
bool pvb_pep_is(struct pvb_fabric *fabric, const struct fid *handle);
/* A responder with a control queue pair is about to answer: the cookie, or 0: there will
 * be none. With cm_lock held. */
uint64_t pvb_control_conn_expect(struct pvb_ep *ep);
/* A connection request: false when it is an ordinary one. With cm_lock held. */
bool pvb_control_conn_request(struct pvb_pep *pep, const struct pvb_cm_event *event);

/* target/pmem_region.c */

/* Adds a region; removes it, once no thread flushes it. Takes the lock. 0 or a negative
 * code. */
int pvb_pmem_region_add(struct pvb_control *control, struct pvb_pmem_region *region);
void pvb_pmem_region_del(struct pvb_control *control, struct pvb_pmem_region *region);

/* target/replay_format.c */

extern struct fi_cairn_ops_replay pvb_replay_ops;

/* target/replay.c */

/* FI_OPT_CAIRN_REPLAY. 0 or a negative code. */
int pvb_replay_set(struct pvb_ep *ep, const void *optval, size_t optlen);
void pvb_replay_end(struct pvb_ep *ep);
/* The connection is up: sends the address of the receives to the peer. */
void pvb_replay_announce(struct pvb_ep *ep);

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

#endif
