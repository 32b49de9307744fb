/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * To be told that groups come and go: the subscription to traps 66 and 67 (specification
 * 13.4.8.3), and whether the subnet manager that has it is still the same. One that
 * begins anew knows neither subscriptions nor members. Without a thread, a clock and a
 * device, as the client through which it asks. Not thread safe.
 */
#ifndef PVB_SA_SA_WATCH_H
#define PVB_SA_SA_WATCH_H

#include "sa_client.h"

#define PVB_SA_TRAPS 2

struct pvb_sa_watch_config {
	bool subscribe;	   /* false: it only looks at the manager */
	uint32_t wait_ms;  /* of each request */
	uint32_t tries;	   /* of each request */
	uint32_t again_ms; /* until a subscription that failed is tried again */
	/* Between two looks at the manager. 0: it does not look, events of the device
	 * tell (pvb_sa_restarted). */
	uint32_t look_ms;
	/* Reports will come from now on; what happened before is not reported. Called
	 * again when it is subscribed anew. Each may be NULL. */
	void (*subscribed)(void *arg);
	/* It could not be subscribed, and is tried again. err and status are those of
	 * struct pvb_sa_answer. */
	void (*refused)(void *arg, int err, uint16_t status);
	/* The manager is another one, or has begun anew: groups have to be joined again.
	 */
	void (*restarted)(void *arg);
	void *arg;
};

struct pvb_sa_trap {
	struct pvb_sa_watch *watch;
	uint16_t number;
	bool on;
	bool asked;
	bool stale; /* what was asked for is of a manager that is gone */
	uint64_t due_ms;
};

struct pvb_sa_watch {
	struct pvb_sa_client *client; /* NULL: not started, or stopped */
	struct pvb_sa_watch_config config;
	struct pvb_sa_trap trap[PVB_SA_TRAPS];
	bool looking;
	bool silent; /* the last look was not answered */
	bool known;  /* sm is */
	struct pvb_sm_info sm;
	uint64_t look_ms; /* when to look */
};

/* watch stays where it is until the client is closed. */
void pvb_sa_watch_start(struct pvb_sa_watch *watch, struct pvb_sa_client *client,
			const struct pvb_sa_watch_config *config, uint64_t now_ms);
/* Asks for no more reports, whose answer is not waited for. Calls nothing any more. */
void pvb_sa_watch_stop(struct pvb_sa_watch *watch, uint64_t now_ms);

/*
 * The owner knows that the manager is another one or has begun anew, as by
 * IBV_EVENT_CLIENT_REREGISTER or IBV_EVENT_SM_CHANGE: subscribes again and calls
 * restarted. A manager is taken for a new one as well when, at a look, its GUID is
 * another, its ActCount is less (specification 14.2.5.13), or the look before was not
 * answered. One that begins anew between two looks and has counted beyond by then is
 * missed: it takes events of the device to notice that.
 */
void pvb_sa_restarted(struct pvb_sa_watch *watch, uint64_t now_ms);

/* Asks what is due. */
void pvb_sa_watch_progress(struct pvb_sa_watch *watch, uint64_t now_ms);
/* Milliseconds until it is, -1: nothing will be. As poll(2) wants it. */
int pvb_sa_watch_timeout(const struct pvb_sa_watch *watch, uint64_t now_ms);

#endif
