/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Definitions that the sources need with every version of libfabric's headers.
 *
 * libfabric 2.x drops helpers that 1.x headers have (container_of) and turns old
 * constants into warnings (FI_MR_BASIC), so the project has its own. Nothing in
 * here depends on libfabric.
 */
#ifndef CRN_COMPAT_H
#define CRN_COMPAT_H

#include <stddef.h>
#include <stdint.h>

#define crn_container_of(ptr, type, field) ((type *)((char *)(ptr)-offsetof(type, field)))

#define CRN_COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CRN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define CRN_MAX(a, b) ((a) > (b) ? (a) : (b))

#define crn_likely(x) __builtin_expect(!!(x), 1)
#define crn_unlikely(x) __builtin_expect(!!(x), 0)

/* Steps of a fast path, built into each caller, where what it fixes costs nothing. */
#define CRN_INLINE static inline __attribute__((always_inline))

/* enum fi_mr_mode of interfaces before 1.5 (fi_mr(3)): a value, not a set of bits. */
#define CRN_MR_UNSPEC 0
#define CRN_MR_BASIC 1
#define CRN_MR_SCALABLE 2

/* FI_LOCAL_MR: the mode bit of those interfaces that FI_MR_LOCAL replaced. */
#define CRN_LOCAL_MR (1ULL << 55)

/* FI_ORDER_STRICT and FI_ORDER_DATA of comp_order; deprecated in libfabric 2.x. */
#define CRN_ORDER_STRICT 0x1FFULL
#define CRN_ORDER_DATA (1ULL << 16)

/* FI_PROGRESS_CONTROL_UNIFIED of libfabric 2.x. */
#define CRN_PROGRESS_CONTROL_UNIFIED 3

/* The smallest power of two >= n, for 1 <= n <= 2^31. */
static inline uint32_t crn_roundup_pow2(uint32_t n)
{
	return n <= 1 ? 1 : 1u << (32 - __builtin_clz(n - 1));
}

#endif
