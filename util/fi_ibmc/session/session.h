/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tool's conversation with the subnet administrator: each call asks, waits until the
 * tries are used up, and says on the standard error what went wrong. Calls return an exit
 * status (enum imc_exit) unless they say otherwise.
 */
#ifndef IMC_SESSION_SESSION_H
#define IMC_SESSION_SESSION_H

#include "link/link.h"
#include "model/model.h"
#include "options.h"
#include "sa/sa_umad.h"

/* Notices that have come and are not yet taken; later ones are counted. */
#define IMC_NOTICES 256

#define IMC_TRAP_QKEY 258

/* What happens to the subscription. */
enum imc_event {
	IMC_SUBSCRIBED = 1,
	IMC_REFUSED = 2,   /* refused_err, refused_status; it is tried again */
	IMC_RESTARTED = 4, /* the subnet manager has begun anew, or is another one */
};

struct imc_session {
	struct pvb_umad umad;
	const struct imc_options *options;
	uint8_t port_mtu; /* active MTU of the port, IBV_MTU_* */
	struct pvb_notice notice[IMC_NOTICES];
	uint32_t notices;
	uint64_t lost;	 /* notices */
	uint32_t events; /* enum imc_event, that are not yet taken */
	int refused_err;
	uint16_t refused_status;
};

int imc_session_open(struct imc_session *session, const struct imc_options *options);
void imc_session_close(struct imc_session *session);

/* One line on the standard error: what, and what an error and a status mean. */
int imc_failed(const struct imc_session *session, const char *what, int err,
	       uint16_t status);

/* Asks, with the tries of the command line; says nothing. 0 or -FI_E*. */
int imc_ask(struct imc_session *session, struct pvb_sa_request *request,
	    struct pvb_sa_reply *reply);

/* --- gather.c */
enum imc_gather {
	IMC_GATHER_NODES = 1, /* all; else those of members */
	IMC_GATHER_PORTS = 2, /* and P_Keys, and switches */
};
/* Fills and finishes a zeroed subnet, which the caller frees. Members are asked for too.
 * Without the table of groups there is none; others may be lacking (subnet->has). mgid:
 * of that group alone, or NULL. */
int imc_gather(struct imc_session *session, uint32_t what, const uint8_t *mgid,
	       struct imc_subnet *subnet);

/* --- groups.c */
/* The link of --pkey. IMC_NOT_THERE, not said: there is none. */
int imc_find_link(struct imc_session *session, int family, struct pvb_link *link);
/* The record of a group. IMC_NOT_THERE, not said: it is not there. */
int imc_get_group(struct imc_session *session, const uint8_t mgid[16],
		  struct pvb_mcm *mcm);
/* That of this port as its member; its state is 0 where it is not told. IMC_NOT_THERE,
 * not said: it is none. */
int imc_get_member(struct imc_session *session, const uint8_t mgid[16],
		   struct pvb_mcm *mcm);
/* Joins with that state. attrs: creates it with these if it is not there; NULL: only
 * joins. mcm: what the administrator returned. */
int imc_join_group(struct imc_session *session, const uint8_t mgid[16], uint8_t state,
		   const struct pvb_mcm *attrs, struct pvb_mcm *mcm);
int imc_leave_group(struct imc_session *session, const uint8_t mgid[16], uint8_t state);
/* After a join that has failed, which the administrator may have done even so: leaves,
 * and says nothing. */
void imc_undo_join(struct imc_session *session, const uint8_t mgid[16], uint8_t state);
/* The MGID of a word of the line. link: found for it if it is an IP address and the line
 * has no scope; may be NULL. */
int imc_find_name(struct imc_session *session, const char *word, struct imc_name *name,
		  struct pvb_link *link);

/* --- events.c */
/* SIGINT, SIGTERM and SIGHUP no longer end the process, but imc_wait; a second one does.
 * Where nobody reads what is written, writing fails. */
void imc_catch(void);
/* A signal has come. */
bool imc_stopped(void);
/*
 * Looks after the manager from now on, and with subscribe is told of groups (traps 66 and
 * 67), for which it subscribes again when the manager has begun anew: IMC_SUBSCRIBED and
 * the like in session->events. -FI_EBUSY: another program has the reports of the port.
 */
int imc_follow(struct imc_session *session, bool subscribe);
/* Subscribes to a trap of ports, or ends that; says nothing. 0, -FI_E*, or -FI_EINVAL:
 * the administrator does not have it. */
int imc_subscribe_port(struct imc_session *session, uint16_t trap, bool subscribe);
/* Until a notice, an event or a signal has come, or the time is over (pvb_umad_now).
 * -FI_EIO: the device is gone. */
int imc_wait(struct imc_session *session, uint64_t until_ms);
/* now + seconds in milliseconds; INFINITY: never. */
uint64_t imc_deadline(double seconds);

#endif
