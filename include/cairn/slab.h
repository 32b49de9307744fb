/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Buffers of a layer's own (headers, bounce buffers), in size classes, registered with
 * the lower provider where that is needed (FI_MR_LOCAL of fi_mr(3)).
 *
 * Each class has its own limit, so one size cannot exhaust another, and a caller that
 * gets -FI_EAGAIN can wait for a buffer of that class to be returned. Memory grows in
 * chunks, one registration each, and is freed with the slab. Taking and returning are
 * O(1); only growing by a chunk allocates and registers.
 *
 * Not thread safe: the owner's lock guards it.
 */
#ifndef CRN_SLAB_H
#define CRN_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

/* Size classes of a slab at most. */
#define CRN_SLAB_CLASSES 8

struct crn_slab_chunk;
struct crn_slab_class;

/* Attributes of a size class; each number is at least 1. */
struct crn_slab_attr {
	size_t size;  /* bytes of a buffer */
	size_t chunk; /* buffers allocated and registered at a time */
	size_t limit; /* most buffers */
};

/*
 * A buffer. Its memory begins at a multiple of 64 bytes, apart from this structure, on
 * pages that hold nothing but buffers of the slab: a child of fork(2) may lose them.
 */
struct crn_buf {
	void *data;
	size_t size;	   /* bytes of data: of its class */
	void *desc;	   /* for the calls of the lower provider; NULL: not registered */
	struct fid_mr *mr; /* NULL: not registered */
	struct crn_slab_class *home; /* the class it belongs to */
	struct crn_buf *next;	     /* free ones */
	bool taken;
};

struct crn_slab_class {
	struct crn_slab_attr attr;
	struct crn_buf *free; /* linked through next */
	size_t total;	      /* buffers allocated */
	size_t taken;
};

struct crn_slab {
	const struct fi_provider *prov;			 /* for log lines */
	struct crn_slab_class classes[CRN_SLAB_CLASSES]; /* sizes ascend */
	size_t count;					 /* of them */
	struct crn_slab_chunk *chunks;
	/*
	 * Registers a chunk of len bytes at addr, as fi_mr_reg does; arg is the owner's.
	 * 0 and *mr, which the slab closes, or a code that crn_slab_get passes on. NULL:
	 * nothing is registered.
	 */
	int (*reg)(void *arg, const void *addr, size_t len, struct fid_mr **mr);
	void *arg;
};

/*
 * Prepares a slab without allocating anything. attr: count rows with ascending sizes;
 * -FI_EINVAL otherwise, and for a chunk that is larger than memory.
 */
int crn_slab_init(struct crn_slab *slab, const struct fi_provider *prov,
		  const struct crn_slab_attr *attr, size_t count,
		  int (*reg)(void *arg, const void *addr, size_t len, struct fid_mr **mr),
		  void *arg);

/*
 * Closes the registrations and frees the memory. -FI_EBUSY when buffers are still taken:
 * one log line for each class says how many, and nothing is freed. When a registration
 * cannot be closed: its code, and one log line; this call is to be made again then, and
 * no other.
 */
int crn_slab_fini(struct crn_slab *slab);

/*
 * Takes a buffer of the smallest class with at least size bytes; its contents are
 * undefined. 0, -FI_EAGAIN when the class is at its bound, -FI_EMSGSIZE when no class is
 * as large, -FI_ENOMEM, or what reg returned.
 */
int crn_slab_get(struct crn_slab *slab, size_t size, struct crn_buf **buf);

/* Returns a buffer. */
void crn_slab_put(struct crn_buf *buf);

#endif
