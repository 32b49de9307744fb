/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs read below /sys/class/infiniband and /sys/class/infiniband_verbs: files
 * of the same names in a folder of the directory, made when the first is asked for. The
 * persistent file is another one, too, when a machine is modelled (model/medium.h).
 */
#ifndef SVB_SYSFS_SYSFS_H
#define SVB_SYSFS_SYSFS_H

#define SVB_SYSFS_PATH 256

/*
 * The path to use instead of path: itself when it is none of ours, else in buf. errno
 * stays as it is.
 */
const char *svb_sysfs_path(const char *path, char buf[SVB_SYSFS_PATH]);

#endif
