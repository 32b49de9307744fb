/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs read below /sys/class/infiniband and /sys/class/infiniband_verbs: files
 * of the same names in a folder of the directory, made when the first is asked for. The
 * persistent file is another one, too, when a machine is modelled (model/medium.h).
 */
#ifndef SVB_SYSFS_SYSFS_H
#define SVB_SYSFS_SYSFS_H

#define SVB_SYSFS_PATH 256

/* The function of that name behind ours. Racing threads find the same. */
#define SVB_NEXT(name)                                                              \
	({                                                                          \
		static __typeof__(&name) next;                                      \
		__typeof__(&name) found = __atomic_load_n(&next, __ATOMIC_RELAXED); \
		if (!found) {                                                       \
			found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);         \
			__atomic_store_n(&next, found, __ATOMIC_RELAXED);           \
		}                                                                   \
		found;                                                              \
	})

/*
 * The path to use instead of path: itself when it is none of ours, else in buf. errno
 * stays as it is.
 */
const char *svb_sysfs_path(const char *path, char buf[SVB_SYSFS_PATH]);

#endif
