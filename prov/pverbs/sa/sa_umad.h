/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port of the subnet, opened by libibumad: what a node knows of its own port, and a
 * client of subnet administration (sa_client.h) that sends and receives there. Not thread
 * safe. For the provider and for tools, which are linked with $(pverbs_umad_libs).
 */
#ifndef PVB_SA_SA_UMAD_H
#define PVB_SA_SA_UMAD_H

#include "sa_client.h"
#include "sa_watch.h"

#define PVB_UMAD_CA_LEN 20
#define PVB_UMAD_ERROR_LEN 200

struct pvb_umad_port {
	char ca[PVB_UMAD_CA_LEN];
	int number;	 /* from 1 */
	bool active;	 /* the link is up and the subnet manager has configured it */
	uint16_t lid;	 /* base LID */
	uint16_t sm_lid; /* 0: no subnet manager */
	uint8_t sm_sl;	 /* that it wants to be addressed with */
	uint8_t gid[16]; /* the first one, of the subnet's prefix and the port's GUID */
	uint16_t *pkey;	 /* the table, ours; 0: no entry */
	unsigned int pkeys;
};

struct pvb_umad_config {
	const char *ca; /* NULL: any */
	int port;	/* 0: any */
	/* A trap that was subscribed to, as in struct pvb_sa_ops; NULL: reports are not
	 * received, and another program of the port may have them. */
	void (*notice)(void *arg, const struct pvb_notice *notice);
	void *arg;
};

struct pvb_umad {
	struct pvb_umad_config config;
	struct pvb_umad_port port; /* of the last refresh */
	/* Ask with pvb_sa_ask and pvb_umad_now, or with pvb_sa_wait. */
	struct pvb_sa_client client;
	struct pvb_sa_watch watch; /* pvb_umad_watch */
	/* Reports are received: config.notice is set, and no other program has them. The
	 * kernel has them for one program of a port only. */
	bool reports;
	bool gone;  /* the device; client is closed */
	bool stale; /* port is to be read anew */
	int portid;
	int agent;
	void *in; /* buffers of libibumad, ours */
	void *out;
	uint64_t unsent;		/* datagrams that could not be sent */
	uint64_t unanswered;		/* requests that the kernel gave back */
	char error[PVB_UMAD_ERROR_LEN]; /* of pvb_umad_open: what, and what to do */
};

/*
 * Opens a port for subnet administration. 0, or with a sentence in error and nothing to
 * be closed: -FI_ENODEV: there is no such port, it is Ethernet, or the kernel's module
 * ib_umad is missing; -FI_EACCES: /dev/infiniband/umad* may not be opened; -FI_ENETDOWN:
 * no subnet manager has configured the port; -FI_ENOMEM, -FI_EMFILE, -ENFILE: a shortage,
 * so that it may be possible later; -FI_EIO.
 */
int pvb_umad_open(struct pvb_umad *umad, const struct pvb_umad_config *config);
/* Asks for no more reports, and ends what is outstanding with -FI_ECANCELED. */
void pvb_umad_close(struct pvb_umad *umad);

/* Milliseconds of CLOCK_MONOTONIC, as the client wants them. */
uint64_t pvb_umad_now(void);
/* For poll(2): readable when something has arrived. */
int pvb_umad_fd(const struct pvb_umad *umad);
/* Milliseconds until pvb_umad_progress has something to do even so, -1: no time. */
int pvb_umad_timeout(const struct pvb_umad *umad);
/*
 * Hands to the client what has arrived, and has it send again what is due; does not wait.
 * The callbacks of the client run within. 0, or -FI_EIO: the device is gone, and all that
 * was outstanding has ended with -FI_ECANCELED.
 */
int pvb_umad_progress(struct pvb_umad *umad);
/*
 * Reads the port anew: LID, SM LID, P_Keys; done by itself when a request is unanswered,
 * or cannot be sent since there is no manager.
 * A manager at another LID is another one (pvb_sa_restarted). 0; -FI_ENODEV, -FI_ENOMEM:
 * it is as it was.
 */
int pvb_umad_refresh(struct pvb_umad *umad);

/*
 * Starts the watch, once. Its look_ms may be 0 where pvb_umad_restarted is called at
 * events of the device. 0, or -FI_EBUSY: another program has the reports of the port, or
 * the config has no notice, so that only the manager is watched.
 */
int pvb_umad_watch(struct pvb_umad *umad, const struct pvb_sa_watch_config *config);
/* The device says that the manager is another one or has begun anew: reads the port, and
 * pvb_sa_restarted. */
void pvb_umad_restarted(struct pvb_umad *umad);

/* The entry of the P_Key table for a partition, with the bit of full members if the port
 * is one; 0: it is not in that partition. */
uint16_t pvb_umad_pkey(const struct pvb_umad *umad, uint16_t pkey);

/* What pvb_sa_wait brings. */
struct pvb_sa_reply {
	uint16_t status;    /* enum pvb_sa_status */
	size_t record_size; /* from one record to the next, bytes; of a table */
	uint8_t *data;	    /* records: pvb_sa_reply_free */
	size_t len;	    /* bytes */
};

/*
 * For programs that have nothing else to do: asks, and waits until there is an answer or
 * the tries of the request are used up. Other callbacks of the client run within. done
 * and arg of the request are not looked at. 0, or an error of struct pvb_sa_answer or
 * pvb_sa_ask, with an empty reply.
 */
int pvb_sa_wait(struct pvb_umad *umad, const struct pvb_sa_request *request,
		struct pvb_sa_reply *reply);
void pvb_sa_reply_free(struct pvb_sa_reply *reply);

/* The port's active MTU, IBV_MTU_*, which the administrator is asked for. 0, an error of
 * pvb_sa_wait, or -FI_EIO: it does not tell. */
int pvb_umad_mtu(struct pvb_umad *umad, uint32_t wait_ms, uint32_t tries, uint8_t *mtu);

#endif
