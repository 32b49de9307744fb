/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Key map: finds the memory region of a key, for providers that implement RMA in
 * software (fi_mr(3)). The provider (FI_MR_PROV_KEY) or the application chooses keys;
 * the target of an operation is a virtual address (FI_MR_VIRT_ADDR) or an offset into
 * the region.
 *
 * Removal and access exclude each other: memory that was found may be touched until
 * crn_mr_end, and crn_mr_remove returns when nobody touches the region any more.
 * Between crn_mr_begin and crn_mr_end a thread may look up several regions; it must not
 * call crn_mr_begin again, add or remove a region, or block.
 */
#ifndef CRN_MR_H
#define CRN_MR_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A region; embedded in the provider's own. Filled by the provider but for key, number,
 * hidden and next. */
struct crn_mr {
	void *buf;	     /* the application's */
	size_t len;	     /* bytes */
	uint64_t access;     /* FI_REMOTE_READ and the like, what fi_mr_reg was given */
	uint64_t key;	     /* fi_mr_key */
	uint64_t number;     /* no other region of the map ever has the same */
	bool hidden;	     /* crn_mr_hide */
	struct crn_mr *next; /* of the same bucket */
};

struct crn_mr_map {
	bool prov_key;	       /* the map chooses keys */
	bool virt_addr;	       /* targets are addresses rather than offsets */
	bool locked;	       /* threads may call at the same time */
	uint64_t max_key;      /* the largest that fits the domain's mr_key_size */
	uint64_t next_key;     /* the next key that the map chooses */
	pthread_rwlock_t lock; /* guards the fields below */
	struct crn_mr **buckets;
	size_t bucket_count; /* a power of two, or 0 */
	size_t count;	     /* regions */
	uint64_t numbers;    /* that have been given */
};

/*
 * mr_mode: FI_MR_PROV_KEY and FI_MR_VIRT_ADDR are looked at. key_size: bytes of a key,
 * 1 to 8 (domain_attr.mr_key_size). 0 or -FI_ENOMEM.
 */
int crn_mr_map_init(struct crn_mr_map *map, uint64_t mr_mode, size_t key_size,
		    bool locked);
/* -FI_EBUSY: it still has regions. */
int crn_mr_map_fini(struct crn_mr_map *map);

/*
 * Sets mr->key and mr->number, and makes the region known. requested_key is ignored with
 * FI_MR_PROV_KEY. Errors as fi_mr(3): -FI_ENOKEY (in use), -FI_EKEYREJECTED (too large,
 * or FI_KEY_NOTAVAIL; with FI_MR_PROV_KEY: no key is left), -FI_ENOMEM.
 */
int crn_mr_add(struct crn_mr_map *map, struct crn_mr *mr, uint64_t requested_key);

/*
 * Removes the region. Returns when no access to it is in progress; there is none later.
 */
void crn_mr_remove(struct crn_mr_map *map, struct crn_mr *mr);
/* A region that is hidden is not found, and its key is still in use: for one that may
 * have to stay. Excludes access as crn_mr_remove does. */
void crn_mr_hide(struct crn_mr_map *map, struct crn_mr *mr, bool hidden);

/* Regions found between these two calls stay valid. */
void crn_mr_begin(struct crn_mr_map *map);
void crn_mr_end(struct crn_mr_map *map);

/*
 * Finds the target memory of a peer's operation: len bytes at addr of the region with
 * that key, which must grant all of access. 0; -FI_EKEYREJECTED: no region has the key;
 * -FI_EACCES: it does not allow that, or ends before. region: NULL, or gets the region.
 */
int crn_mr_find(struct crn_mr_map *map, uint64_t key, uint64_t addr, size_t len,
		uint64_t access, void **at, struct crn_mr **region);

#endif
