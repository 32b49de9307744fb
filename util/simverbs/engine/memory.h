/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Regions, keys, and moving bytes between them.
 *
 * Memory of this process is copied; memory of another is reached by process_vm_readv and
 * process_vm_writev after its region table was asked. One of the two sides of a move is
 * always this process.
 */
#ifndef SVB_ENGINE_MEMORY_H
#define SVB_ENGINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include "shared/shared.h"
#include "tsan.h"

/* Bytes of one process in order. base is an address in that process. */
struct svb_span {
	struct svb_seg *seg; /* whose memory */
	int count;
	size_t length; /* of all */
	struct iovec iov[SVB_MAX_SGE];
};

/*
 * Where a range that a key covers lies, in the owner's address space. False when the key
 * is not registered, belongs to another domain (pd) or, as a window, to another queue
 * pair, does not grant all of access, or does not cover the range.
 */
SVB_INLINE bool svb_mr_check(struct svb_seg *seg, uint32_t key, uint32_t pd, uint32_t qpn,
			     uint32_t access, uint64_t at, uint64_t len, void **where)
{
	struct svb_mr_sh *mr = svb_seg_mr_try(seg, key >> 8);
	uint64_t offset;

	if (!mr || __atomic_load_n(&mr->key, __ATOMIC_ACQUIRE) != key || !key)
		return false;
	offset = at - mr->iova;
	if (mr->pd != pd || (mr->qpn && mr->qpn != qpn) ||
	    (mr->access & access) != access || offset > mr->length ||
	    len > mr->length - offset)
		return false;
	*where = (void *)(uintptr_t)(mr->addr + offset);
	return true;
}

/* Within this process. Eight bytes are the case to be fast at, and then one store for who
 * watches them. */
static inline void svb_copy_own(void *to, const void *from, size_t len)
{
	svb_tsan_adapter_begins();
	if (__builtin_expect(len == 8, 1))
		memcpy(to, from, 8);
	else
		memmove(to, from, len);
	svb_tsan_adapter_ends();
}

/* Turns a list of sges into a span; false when a key forbids it. Empty sges are skipped.
 */
bool svb_span_of_sges(struct svb_span *span, struct svb_seg *seg, uint32_t pd,
		      const struct ibv_sge *sge, uint32_t count, uint32_t access);

/* One range; no check. */
void svb_span_of_range(struct svb_span *span, struct svb_seg *seg, void *where,
		       size_t len);

/* Drops all but the first len bytes. */
void svb_span_cut(struct svb_span *span, size_t len);
/* Drops the first len bytes. */
void svb_span_skip(struct svb_span *span, size_t len);

/*
 * Copies the whole of from to the first bytes of to, which must be long enough. Returns
 * 0, ESRCH when the other process is gone, EFAULT when its memory is, EPERM when the
 * system forbids it.
 */
int svb_move(const struct svb_span *to, const struct svb_span *from);

/* Bytes of this process to or from a span. As svb_move. */
int svb_move_in(const struct svb_span *to, const void *from, size_t len);
int svb_move_out(void *to, const struct svb_span *from, size_t len);

/*
 * The three operations on eight aligned bytes, atomic for every initiator: in memory of
 * this process also for its processor, in another's not (IBV_ATOMIC_HCA). The value
 * before in *old. Returns as svb_move.
 */
enum svb_atomic { SVB_ATOMIC_SWAP_IF, SVB_ATOMIC_ADD, SVB_ATOMIC_STORE };
int svb_atomic(struct svb_seg *seg, void *where, enum svb_atomic op, uint64_t operand,
	       uint64_t compare, uint64_t *old);

#endif
