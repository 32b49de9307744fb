/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Calls into the fake device (fake_verbs.h) and the fake rdma_cm (fake_cm.h): each is
 * counted, and a test may make any of them fail, or do something as it begins.
 */
#ifndef FAKE_CALL_H
#define FAKE_CALL_H

enum fake_call {
	/* ibv_* */
	FAKE_FORK_INIT,
	FAKE_GET_DEVICE_LIST,
	FAKE_OPEN_DEVICE,
	FAKE_QUERY_DEVICE,
	FAKE_QUERY_PORT,
	FAKE_QUERY_GID,
	FAKE_QUERY_PKEY,
	FAKE_ALLOC_PD,
	FAKE_REG_MR,
	FAKE_ALLOC_MW,
	FAKE_DEREG_MR,
	FAKE_CREATE_COMP_CHANNEL,
	FAKE_CREATE_CQ,
	FAKE_REQ_NOTIFY,
	FAKE_CREATE_QP,
	FAKE_CREATE_SRQ,
	FAKE_DESTROY_SRQ,
	FAKE_CREATE_AH,
	FAKE_ATTACH,
	FAKE_DETACH,
	FAKE_MODIFY_QP,
	FAKE_POST_LIST, /* to a send queue; does not fail */
	FAKE_POST_SEND, /* one per work request of a list */
	FAKE_POST_RECV, /* to a queue pair or a shared queue */
	/* rdma_* */
	FAKE_CREATE_EVENT_CHANNEL,
	FAKE_CHANNEL_FD, /* its descriptor is none */
	FAKE_GET_EVENT,
	FAKE_CREATE_ID,
	FAKE_DESTROY_ID,
	FAKE_BIND_ADDR,
	FAKE_LISTEN,
	FAKE_RESOLVE_ADDR,
	FAKE_RESOLVE_ROUTE,
	FAKE_INIT_QP_ATTR,
	FAKE_SET_OPTION,
	FAKE_CONNECT,
	FAKE_ESTABLISH,
	FAKE_ACCEPT,
	FAKE_REJECT,
	FAKE_DISCONNECT,
	FAKE_MIGRATE,
	FAKE_JOIN,
	FAKE_LEAVE,
	/* of the system */
	FAKE_GETIFADDRS,
	/* of prov/common, which are made all the same */
	FAKE_WAIT_CLEAR,
	FAKE_CALLS
};

/* From here on, the nth call (1 is the next) fails with err, an errno value; once. */
void fake_fail(enum fake_call call, unsigned int nth, int err);
/* Before the nth call does anything, hook is called; once. In one that posts it must not
 * call a device; FAKE_POST_LIST is called before that begins. */
void fake_before(enum fake_call call, unsigned int nth, void (*hook)(void *), void *arg);
/* Calls since fake_call_reset. */
unsigned int fake_count(enum fake_call call);
void fake_call_reset(void);

/* For the fakes: counts a call; 0, or the errno value that it is to fail with. */
int fake_enter(enum fake_call call);

#endif
