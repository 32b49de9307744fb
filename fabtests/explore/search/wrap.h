/* SPDX-License-Identifier: BSD-2-Clause */
/* For definitions of what the linker puts in place of functions (--wrap in local.mk). */
#ifndef XPL_WRAP_H
#define XPL_WRAP_H

/* WRAP(int, f, int x) { ... } is called where f is; f itself is __real_f. */
#define WRAP(type_, name_, ...)            \
	type_ __real_##name_(__VA_ARGS__); \
	type_ __wrap_##name_(__VA_ARGS__); \
	type_ __wrap_##name_(__VA_ARGS__)

#endif
