/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fi_cairn_nfsd: a small NFSv4.1 server for tests of clients, which errs on demand. It
 * serves one folder, to anybody, and keeps nothing over its own end. One thread.
 */
#ifndef NFD_H
#define NFD_H

#include <stdbool.h>
#include <sys/stat.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include "message.h"
#include "status.h"

#define NFD_RECEIVES 8u
#define NFD_MOST ((1u << 20) + 8192u) /* bytes of a message */
#define NFD_HEAD 65536u		      /* of a Reply without data */
#define NFD_SLOTS 32u
#define NFD_SESSIONS 16u
#define NFD_HANDLES 256u
#define NFD_CACHED 2048u

struct nfd_peer;

/* ---- faults ---- */

enum nfd_fault {
	NFD_NONE,
	NFD_STATUS, /* the operation's status is the value */
	NFD_SHORT,  /* READ gives at most so many bytes */
	NFD_EOF,    /* and says that the file ends there */
	NFD_MORE,   /* READ or WRITE says one byte more than it was */
	NFD_OTHER,  /* SEQUENCE names another slot */
	NFD_DROP,   /* the connection ends in place of a Reply */
	NFD_MUTE,   /* no Reply */
	NFD_GARBAGE,
	NFD_SYSTEM_ERR,
	NFD_DENIED,
	NFD_CALLBACKS, /* as many CB_NULL at once */
	NFD_CHANGE,    /* the file's change attribute is another one from now on */
	NFD_HOLD,      /* the Reply waits until a Call in reverse is answered */
};

/* OP:N:WHAT[=VALUE]: what the Nth such operation does, all of them if N is 0. */
bool nfd_fault_add(const char *text);
enum nfd_fault nfd_fault_at(unsigned int op, uint32_t *value);

/* ---- counts ---- */

struct nfd_counts {
	unsigned int null, unknown; /* Calls of NULL, operations that are not known */
	unsigned int connections;
	unsigned int callbacks, callbacks_answered; /* the latter with NFS4_OK */
	unsigned int broken;			    /* rules that a client did not keep */
};

extern struct nfd_counts nfd_counts;

/* 0: there is none of that name. */
unsigned int nfd_op_number(const char *name);
/* Counts one; false: the server does not know it. */
bool nfd_op_count(unsigned int op);
/* A client does not keep a rule: which, and where it is. It is served all the same. */
void nfd_broken(const char *rule);
/* A line for each that is not 0. */
void nfd_counts_print(void);

/* ---- the folder ---- */

struct nfd_node {
	char path[512];
	ino_t number; /* of the file that the handle was made for */
	uint64_t changes;
};

bool nfd_tree_open(const char *folder);
/* NULL gives the root; the result NULL: no such handle. */
struct nfd_node *nfd_node(const nfs_fh4 *fh);
void nfd_fh(const struct nfd_node *node, nfs_fh4 *fh, char *bytes);
/* Status, and *found; create: an empty file, if there is none. */
uint32_t nfd_lookup(const struct nfd_node *dir, const text4 *name, bool create,
		    struct nfd_node **found);
uint32_t nfd_stat(const struct nfd_node *node, struct stat *st);
int nfd_file(const struct nfd_node *node, int flags);

/* ---- sessions ---- */

struct nfd_slot {
	uint32_t sequence, cached_len;
	uint32_t xid;	 /* of the last Call */
	uint64_t digest; /* and of its bytes */
	uint8_t cached[NFD_CACHED];
};

struct nfd_session {
	sessionid4 id;
	uint64_t clientid;
	uint32_t slots_count;
	struct nfd_peer *peer; /* of the back channel, or NULL */
	uint32_t back_sequence;
	uint32_t back_flavor; /* NFC_AUTH_* */
	struct nfd_slot slots[NFD_SLOTS];
};

struct nfd_session *nfd_session(const char *id);
void nfd_sessions_leave(const struct nfd_peer *peer);

/* ---- one COMPOUND ---- */

struct nfd_request {
	struct nfd_peer *peer;
	const uint8_t *bytes; /* of the Call */
	size_t len;
	struct nfd_session *session;
	struct nfd_slot *slot;
	bool kept;
	uint32_t most;	       /* bytes that a READ gives */
	struct nfd_node *node; /* the current file handle */
	const uint8_t *behind; /* data of a WRITE, and bytes from there on */
	size_t behind_len;
	char fh[8];    /* of GETFH */
	u_int mask[2]; /* of GETATTR */
	char values[512];
	uint8_t *data; /* of a READ: allocated */
	uint32_t data_len;
	enum nfd_fault fault; /* instead of a Reply */
	bool replay;	      /* the Reply that the slot keeps */
	entry4 *entries;      /* of READDIR: allocated */
};

/* The status; *res is set up. */
uint32_t nfd_session_op(struct nfd_request *request, const nfs_argop4 *arg,
			nfs_resop4 *res);
uint32_t nfd_file_op(struct nfd_request *request, const nfs_argop4 *arg, nfs_resop4 *res);
uint32_t nfd_state_op(struct nfd_request *request, const nfs_argop4 *arg,
		      nfs_resop4 *res);
/* It is one that was given, and was not closed. */
bool nfd_stateid(const stateid4 *stateid);
uint32_t nfd_readdir(struct nfd_request *request, const READDIR4args *args,
		     READDIR4resok *ok);
void nfd_fill_attrs(struct nfd_request *request, const bitmap4 *wanted,
		    const struct stat *st, fattr4 *attrs);
/* Takes a Call apart and answers it. */
void nfd_serve(struct nfd_peer *peer, const uint8_t *bytes, size_t len);

/* ---- connections ---- */

/* A Call or Reply: head is copied; data of a READ are freed when they are sent. */
void nfd_send(struct nfd_peer *peer, const uint8_t *head, size_t len, uint8_t *data,
	      size_t data_len);
void nfd_drop(struct nfd_peer *peer);
/* Instead of nfd_send: once a Call in reverse is answered. One at a time. */
void nfd_hold(struct nfd_peer *peer, const uint8_t *head, size_t len);
/* The peer takes Calls (RFC 8167 section 6). */
void nfd_ready(struct nfd_peer *peer);
/* The Reply to CB_RECALL or CB_NULL. */
void nfd_recalled(const uint8_t *bytes, size_t len);
/* CB_NULL, several at once. */
void nfd_callbacks(struct nfd_peer *peer, uint32_t count);
/* All CB_NULL have been answered. */
bool nfd_callbacks_over(void);
/* CB_SEQUENCE and CB_RECALL in the session's back channel. */
void nfd_recall(struct nfd_session *session, const stateid4 *stateid, const nfs_fh4 *fh);
bool nfd_listen(const char *provider, const char *host, const char *port);
bool nfd_turn(void);
void nfd_end(void);

#endif
