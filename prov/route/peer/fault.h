/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Faults that are injected on purpose, into what peers of a port receive and send: for
 * tests, and for people who want to see what happens. Rules say which messages, and what
 * becomes of them. A port without rules pays one branch for each message.
 *
 * Faults are of messages, not of the hop: a message that is dropped has taken its credit
 * and gives it back, and the credits that it told of are told. What is late keeps its
 * order, as TCP would: all behind it are late as well.
 */
#ifndef RTE_FAULT_H
#define RTE_FAULT_H

#include <stdbool.h>
#include <stdint.h>
#include <cairn/addr.h>
#include <cairn/lock.h>

struct rte_port;

#define RTE_FAULTS_MAX 16u
/* Of rte_fault.chance: always. */
#define RTE_FAULT_ALWAYS 1000000u
#define RTE_FAULT_DELAY_MAX 60000u
#define RTE_FAULT_DEVICE 64u

enum rte_fault_act {
	RTE_FAULT_DROP, /* nobody hears of it */
	RTE_FAULT_DELAY,
	RTE_FAULT_DUPLICATE, /* OUT alone, and no data: it is sent twice */
	/* Whatever is sent waits for the rule's end: nothing is lost if that comes in
	 * time. */
	RTE_FAULT_BLACKHOLE,
	RTE_FAULT_ACTS
};

enum rte_fault_class {
	RTE_FAULT_ALL,	      /* HELLO and BYE too, which are in no other class */
	RTE_FAULT_DATA,	      /* MSG, WRITE, READ_REQ, READ_FRAG */
	RTE_FAULT_ACKS,	      /* ACK and NACK; what rides on data goes with those */
	RTE_FAULT_CONTROL,    /* connections that begin and end; keys of regions */
	RTE_FAULT_LINKS,      /* the exchange of link states */
	RTE_FAULT_KEEPALIVES, /* KEEPALIVE and HEARTBEAT */
	RTE_FAULT_GRANTS,     /* landing slots, without which messages have to do */
	RTE_FAULT_CLASSES
};

enum rte_fault_way { RTE_FAULT_IN = 1 << 0, RTE_FAULT_OUT = 1 << 1 };

struct rte_fault {
	/* Which messages. */
	char device[RTE_FAULT_DEVICE]; /* "": of any */
	uint64_t router;	       /* the peer's id; 0: any peer */
	union crn_addr host;	       /* the peer's; AF_UNSPEC: any */
	uint32_t ways;		       /* enum rte_fault_way */
	enum rte_fault_class class;
	enum rte_fault_act act;
	uint32_t delay;	 /* ms, of DELAY: 1 to RTE_FAULT_DELAY_MAX */
	uint32_t chance; /* of RTE_FAULT_ALWAYS; not of BLACKHOLE, nor are the next */
	uint64_t seed;	 /* of which messages these are: the same ones again */
	uint64_t most;	 /* messages; 0: no end */
	/* What has come of it. */
	uint32_t id;
	uint64_t hits;
	uint64_t random;
};

/* Of all ports of an owner; in use, it does not move. */
struct rte_faults {
	struct crn_lock lock; /* hits and random, which several ports write */
	uint32_t count, next;
	struct rte_fault fault[RTE_FAULTS_MAX];
};

void rte_faults_init(struct rte_faults *faults);
/*
 * Nobody makes progress at a port with these faults meanwhile; rte_port_faults follows
 * for each. The rule's id; 0: there are too many.
 */
uint32_t rte_faults_add(struct rte_faults *faults, const struct rte_fault *fault);
/* id 0: all. False: there is no such rule. */
bool rte_faults_remove(struct rte_faults *faults, uint32_t id);
/* They are these, or have changed. The port makes progress afterwards. */
void rte_port_faults(struct rte_port *port, struct rte_faults *faults);

#endif
