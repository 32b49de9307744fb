/* SPDX-License-Identifier: BSD-2-Clause */
/* A made-up /proc and /sys in a temporary folder. */
#ifndef CRN_TEST_TREE_H
#define CRN_TEST_TREE_H

#include <cairn/pmem.h>

struct tree {
	bool open;
	char root[64];
	struct crn_host host;
};

/* What a test says that stat(2) finds; a path that is not among them does not exist. */
struct tree_stat {
	const char *path;
	unsigned long inode;
	unsigned int major, minor; /* of a character device; 0, 0: a file */
};

/* Empty; stats, ended by a path NULL, has to stay. A tree that is open is closed first.
 */
void tree_open(struct tree *tree, const struct tree_stat *stats);
/* Nothing if it is not open. */
void tree_close(struct tree *tree);
/* A file with that text, and the folders above it. */
void tree_file(struct tree *tree, const char *path, const char *text);
void tree_dir(struct tree *tree, const char *path);
/* path links to to, a path of the tree, which need not exist. */
void tree_link(struct tree *tree, const char *path, const char *to);

/* An nvdimm region that reports domain, at /sys/devices/ACPI0012:00/ndbus0/region0. */
#define TREE_REGION "/sys/devices/ACPI0012:00/ndbus0/region0"
void tree_region(struct tree *tree, const char *domain);
/* In it dax0.0, number 251:7, and pmem0 with a partition, 259:0 and 259:1. */
void tree_devices(struct tree *tree);

#endif
