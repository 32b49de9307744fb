/* SPDX-License-Identifier: BSD-2-Clause */
/* Compiler attributes of functions and branch hints. */
#ifndef SVB_ATTR_H
#define SVB_ATTR_H

/* A function that programs call. */
#define SVB_API __attribute__((visibility("default")))

/* The steps of the fast path: small, or built twice, with the length known and any. */
#define SVB_INLINE static inline __attribute__((always_inline))

#define svb_likely(x) __builtin_expect(!!(x), 1)
#define svb_unlikely(x) __builtin_expect(!!(x), 0)

#endif
