/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Address vector (fi_av(3)): a complete fid_av for a provider to embed. It holds IPv4 and
 * IPv6 socket addresses (FI_SOCKADDR, FI_SOCKADDR_IN, FI_SOCKADDR_IN6), or addresses of a
 * form that the provider describes (struct crn_av_form).
 *
 * A fi_addr_t is an index, with FI_AV_MAP as well; an address gets the lowest one that is
 * free, so an address that fails takes none. An address inserted twice gets two. Of an
 * array of FI_SOCKADDR each element is as long as its family says.
 *
 * Any thread may call at any time. crn_av_addr and crn_av_peer take no lock, may be
 * called while others insert and remove, and what they give stays until that address is
 * removed (fi_av(3): operations that reference a removed address are undefined).
 */
#ifndef CRN_AV_H
#define CRN_AV_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <cairn/addr.h>
#include <cairn/compat.h>
#include <cairn/eq.h>
#include <cairn/lock.h>

/* FNV-1a of more bytes; a hash begins with CRN_AV_HASH. */
#define CRN_AV_HASH 2166136261u

static inline uint32_t crn_av_hash(uint32_t hash, const void *bytes, size_t len)
{
	const uint8_t *byte = bytes;

	while (len--)
		hash = (hash ^ *byte++) * 16777619u;
	return hash;
}

/* Bytes of an address of a provider's own form, at most. */
#define CRN_AV_ADDR_MAX 32

/* An address, stored without the padding of struct sockaddr_storage. */
union crn_av_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	uint64_t other[CRN_AV_ADDR_MAX / sizeof(uint64_t)]; /* as its form says */
};

/* What a vector has to know of the addresses that it holds. All functions are pure, but
 * for resolve. */
struct crn_av_form {
	uint32_t
		format; /* FI_ADDR_* or FI_SOCKADDR_*: addr_format of the domain's info */
	/* Bytes of the element of an array that begins here, which may be unaligned and
	 * any bytes at all; 0: nobody can tell. At most CRN_AV_ADDR_MAX. */
	size_t (*len)(const void *addr);
	/* May an element of so many bytes be inserted? */
	bool (*valid)(const void *addr, size_t len);
	/* The same for addresses that are the same; where a message came from is found by
	 * both. */
	uint32_t (*hash)(const void *addr);
	bool (*same)(const void *a, const void *b);
	/* fi_av_straddr: as snprintf(3). */
	int (*text)(const void *addr, char *buf, size_t size);
	/*
	 * fi_av_insertsvc and fi_av_insertsym: the address of the service_nth service
	 * (from 0) of the node_nth node, counted from node and service, either of which
	 * may be NULL. 0, or a negative FI_E* code: -FI_EINVAL without such a node or
	 * service. NULL: names are those of hosts and ports for socket addresses, and
	 * mean nothing for others (-FI_ENOSYS).
	 */
	int (*resolve)(const char *node, size_t node_nth, const char *service,
		       size_t service_nth, union crn_av_addr *out);
};

struct crn_av_entry {
	union crn_av_addr addr;
	uint32_t next;	   /* of the same bucket, as index + 1; of the last, the first */
	_Atomic bool used; /* the entry is in use: the other fields are valid */
};

/*
 * What crn_av.added stored, by index: all in one array, for sends look here. A larger one
 * takes the place of one that is full; who still looks at that finds what was there.
 */
struct crn_av_peers {
	uint64_t size;
	struct crn_av_peers *older; /* of the same vector; freed with it */
	_Atomic(void *) at[];	    /* NULL: not in use */
};

/* Of size 0. */
extern struct crn_av_peers crn_av_no_peers;

/* Entries lie in chunks that never move: the first has 2^chunk_bits, the second as many,
 * each further one twice as many as the one before. */
#define CRN_AV_CHUNKS 26

struct crn_av {
	struct fid_av fid;
	struct fid_domain *domain; /* the domain of the vector */
	struct fid_fabric *fabric; /* whose event queues may be bound; NULL: any */
	enum fi_av_type type;
	const struct crn_av_form *form;
	bool async; /* FI_EVENT: results go to eq */
	struct crn_eq *eq;
	_Atomic unsigned int refs; /* endpoints bound to it */
	unsigned int chunk_bits;
	_Atomic(struct crn_av_entry *) chunks[CRN_AV_CHUNKS];
	_Atomic(struct crn_av_peers *) peers; /* never NULL */
	struct crn_lock lock; /* guards the fields below and changes of entries */
	uint32_t size;	      /* entries of all chunks */
	uint32_t lowest;      /* no entry below it is free */
	uint32_t count;	      /* entries used */
	uint32_t *buckets;    /* by address: the last one, as index + 1; 0: empty */
	uint32_t bucket_count;
	/*
	 * Set by the provider after crn_av_init; NULL: every address is as good as any
	 * other. Called with the lock held. added: makes what the provider keeps of a
	 * peer
	 * (*peer, NULL before); a negative FI_E* code makes the insertion of this address
	 * fail. removed: frees it, also for what is left when the vector is closed.
	 */
	int (*added)(struct crn_av *av, const void *addr, void **peer);
	void (*removed)(struct crn_av *av, void *peer);
};

/*
 * Prepares an embedded vector and fills fid. attr->type becomes the type that is used.
 * format: addr_format of the domain's info. Its close is fi_close(3) of the vector alone;
 * a provider that embeds it sets fid.fid.ops to a table of its own, with crn_av_bind, and
 * calls crn_av_fini. Errors: -FI_EINVAL (no attr, unknown type or flags, rx_ctx_bits),
 * -FI_ENOSYS (a name: vectors are not shared between processes; another address format),
 * -FI_ENOMEM.
 */
int crn_av_init(struct crn_av *av, struct fid_domain *domain, struct fi_av_attr *attr,
		uint32_t format, bool locked, void *context);
/* The same with addresses of a provider's own form, which stays where it is. */
int crn_av_init_form(struct crn_av *av, struct fid_domain *domain,
		     struct fi_av_attr *attr, const struct crn_av_form *form, bool locked,
		     void *context);
/* -FI_EBUSY: endpoints are bound to it. Events stay in the event queue. */
int crn_av_fini(struct crn_av *av);

/* For the provider's fi_ops: binds an event queue, which has to be a crn_eq. */
int crn_av_bind(struct fid *fid, struct fid *bfid, uint64_t flags);

/* The entry of an index, or NULL. */
static inline struct crn_av_entry *crn_av_entry(struct crn_av *av, fi_addr_t fi_addr)
{
	const uint64_t high = fi_addr >> av->chunk_bits;
	const unsigned int chunk = high ? 64 - (unsigned int)__builtin_clzll(high) : 0;
	struct crn_av_entry *first;

	if (crn_unlikely(chunk >= CRN_AV_CHUNKS))
		return NULL;
	first = atomic_load_explicit(&av->chunks[chunk], memory_order_acquire);
	if (crn_unlikely(!first))
		return NULL;
	if (chunk)
		fi_addr -= 1ULL << (av->chunk_bits + chunk - 1);
	return &first[fi_addr];
}

/* The same when it is in use. */
static inline struct crn_av_entry *crn_av_used(struct crn_av *av, fi_addr_t fi_addr)
{
	struct crn_av_entry *entry = crn_av_entry(av, fi_addr);

	return entry && atomic_load_explicit(&entry->used, memory_order_acquire) ? entry
										 : NULL;
}

/* The address that was inserted, or NULL. */
static inline const void *crn_av_addr(struct crn_av *av, fi_addr_t fi_addr)
{
	struct crn_av_entry *entry = crn_av_used(av, fi_addr);

	return entry ? &entry->addr : NULL;
}

/* The peer object that crn_av.added stored at an index, or NULL. */
static inline void *crn_av_peer_at(const struct crn_av_peers *peers, fi_addr_t fi_addr)
{
	return crn_likely(fi_addr < peers->size)
		       ? atomic_load_explicit(&peers->at[fi_addr], memory_order_acquire)
		       : NULL;
}

/* The same of a vector. */
static inline void *crn_av_peer(struct crn_av *av, fi_addr_t fi_addr)
{
	return crn_av_peer_at(atomic_load_explicit(&av->peers, memory_order_acquire),
			      fi_addr);
}

/*
 * Where a message came from, for FI_SOURCE: the fi_addr_t of an address, of the one
 * inserted first when there are several; FI_ADDR_NOTAVAIL when it was not inserted. Of a
 * socket address host, port and, when both have one, scope count. Takes the lock.
 */
fi_addr_t crn_av_find(struct crn_av *av, const void *addr);

#endif
