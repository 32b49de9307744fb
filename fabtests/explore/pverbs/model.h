/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The crash explorer: is what the provider reports as durable durable, whatever happens,
 * whenever the power fails?
 *
 * Both ends of a connection live in this process: the provider and the software device
 * are linked in. A program (a few libfabric calls of the initiator) is searched
 * (search.h). Its choices are the device's (machine/machine.h): a request arrives, a line
 * is placed, a read is executed, a message is delivered, a line drains. Its steps are the
 * processors': the initiator makes its next call, or reads its completion queue; the
 * target reads its own. What a processor flushes meanwhile (it asks for that by
 * pmem_persist) is a place to stop at.
 *
 * Two things spare states and lose none (-u does without, -c shows that both ways find
 * the same): that a line drains is no choice of its own, but each state is with all that
 * may have drained (machine/maybe.c); and what commutes with everything and is noticed by
 * nobody happens at once (machine/unseen.c). What was spared is reported.
 *
 * In every state the power fails, and what recovery finds is compared with what was
 * reported:
 *
 *	I1  reported as durable, at either end: it is there
 *	I2  of a compound update (b after a): something of b is there, so all of a is
 *	I3  in the end every byte is as if the calls had happened one after the other, and
 *	    a read finds what was written before it
 *
 * and completions come in the order of the calls, each exactly once; no state is stuck.
 * Where counters tell of them, a counter's value is what was reported. What is fenced and
 * not durable begins when what was to be durable before it is: that is I2, too.
 *
 * A message whose receive recovery looks into (FI_OPT_CAIRN_REPLAY) is there when
 * recovery finds it, whole, in the receive or where the target's program put it before it
 * posted the receive again (target.c); what was not sent, is torn, or was applied before,
 * recovery must not take for a message.
 *
 * What is the search's alone is in no word of the provider's, but in tables of its own,
 * which are taken back with the rest (omit.c).
 */
#ifndef XPV_MODEL_H
#define XPV_MODEL_H

#include "scenario.h"

/* From now on scenarios can be searched on that machine, in this process. drains: lines
 * drain by choice, and nothing is pruned. It ends when that cannot be. */
void xpv_model_open(const struct machine *machine, bool drains);

#endif
