/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A connected requester whose peer has a control queue pair, on fake devices: a test says
 * what the target answers, and sees what is asked of it.
 */
#ifndef PVB_TEST_DURABLE_H
#define PVB_TEST_DURABLE_H

#include "../world.h"
#include "persist/control/control.h"
#include "persist/initiator/commit.h"

#define DURABLE_TIMEOUT 1000  /* FI_PVERBS_COMMIT_TIMEOUT, ms */
#define DURABLE_ADDR 0x10000u /* where writes go */
#define DURABLE_WORD 0x77000u /* where the peer's area is */

struct durable {
	struct world w;
	struct pvb_qp *qp;
	struct pvb_control_qp *control_qp;
	struct fake_qp *control; /* the control queue pair */
	uint32_t answered;	 /* requests, by durable_answer */
};

/* Regions of a target whose processor is needed, of one that a read flushes to, ... */
#define KEY_REQUESTS durable_key(CRN_DMP, true)
#define KEY_READS durable_key(CRN_DMP, false)
#define KEY_VISIBLE durable_key(CRN_MHP, true)
#define KEY_ARRIVED durable_key(CRN_WSP, true)
uint64_t durable_key(enum crn_persistence domain, bool ddio);

/* opts may be NULL: 64 operations. Closes what d has open, which may be nothing, then
 * begins with world_reset. */
bool durable_open(struct durable *d, const struct world_opts *opts);
/* Its two halves: an enabled endpoint, and the connection of d->w.ep. */
bool durable_enable(struct durable *d, const struct world_opts *opts);
bool durable_connect(struct durable *d);
/* The same with a peer without control queue pair. */
bool durable_open_without(struct durable *d, const struct world_opts *opts);
void durable_close(struct durable *d);
/* durable_open without options, for CT_FIXTURE, whose tear-down is durable_close. */
void durable_start(struct durable *d);
/* Connects w->ep, which is enabled, to a peer that answers so; NULL: with nothing. */
bool durable_connect_to(struct world *w, const struct pvb_cm_offer *offer);

/* fi_writemsg of len bytes to DURABLE_ADDR + at with FI_COMMIT_COMPLETE, FI_COMPLETION
 * and flags. */
ssize_t durable_write(struct durable *d, uintptr_t number, uint64_t at, size_t len,
		      uint64_t key, uint64_t flags);
/* fi_writemsg with just these flags. */
ssize_t plain_write(struct durable *d, uintptr_t number, uint64_t at, size_t len,
		    uint64_t key, uint64_t flags);
/* The target answers the oldest request that is not answered yet. */
void durable_answer(struct durable *d, uint16_t status);
/* These bytes arrive at the control queue pair. */
void durable_arrives(struct durable *d, const void *bytes, size_t len);
void durable_message(struct durable *d, const struct pvb_wire_message *message);
/* What the nth control message, from 0, said; its bytes last until it is used again. */
struct pvb_wire_message durable_sent(struct durable *d, unsigned int nth);
/* How many control messages, which are answers at a target, were sent. */
unsigned int durable_answers(const struct durable *d);
/* The operation of the nth work request, from 0, of the connection. */
enum ibv_wr_opcode durable_opcode(const struct durable *d, unsigned int nth);
/* As if operations had used that many positions of the send queue; slots stay. */
void durable_go_on(struct durable *d, uint32_t positions);
/* Everything posted succeeds, on both queue pairs. */
void durable_complete(struct durable *d);

#endif
