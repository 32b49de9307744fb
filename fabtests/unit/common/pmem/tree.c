/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/sysmacros.h>
#include "cairn_test.h"
#include "tree.h"

static const struct tree_stat *known;

static int tree_stat(const char *path, struct stat *st)
{
	const struct tree_stat *at;

	for (at = known; at && at->path; at++) {
		if (strcmp(at->path, path) != 0)
			continue;
		memset(st, 0, sizeof(*st));
		st->st_ino = at->inode;
		st->st_mode = at->major ? S_IFCHR : S_IFREG;
		st->st_rdev = makedev(at->major, at->minor);
		return 0;
	}
	errno = ENOENT;
	return -1;
}

static int tree_remove(const char *path, const struct stat *st, int type,
		       struct FTW *where)
{
	return remove(path);
}

void tree_close(struct tree *tree)
{
	if (tree->open)
		CT_EXPECT_EQ(nftw(tree->root, tree_remove, 8, FTW_DEPTH | FTW_PHYS), 0);
	tree->open = false;
	known = NULL;
}

void tree_open(struct tree *tree, const struct tree_stat *stats)
{
	tree_close(tree);
	snprintf(tree->root, sizeof(tree->root), "./crn_tree.XXXXXX");
	CT_ASSERT_NE(mkdtemp(tree->root), NULL);
	tree->open = true;
	tree->host = (struct crn_host){.root = tree->root, .stat = tree_stat};
	known = stats;
}

/* The folders above the last part of a path of the tree; out is its full name. */
static void tree_parents(struct tree *tree, const char *path, char out[PATH_MAX])
{
	char *slash;

	snprintf(out, PATH_MAX, "%s%s", tree->root, path);
	for (slash = strchr(out + strlen(tree->root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		CT_EXPECT_TRUE(!mkdir(out, 0700) || errno == EEXIST);
		*slash = '/';
	}
}

void tree_file(struct tree *tree, const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *file;

	tree_parents(tree, path, full);
	file = fopen(full, "w");
	CT_ASSERT_NE(file, NULL);
	CT_EXPECT_EQ(fputs(text, file) < 0, 0);
	fclose(file);
}

void tree_dir(struct tree *tree, const char *path)
{
	char full[PATH_MAX];

	tree_parents(tree, path, full);
	CT_EXPECT_TRUE(!mkdir(full, 0700) || errno == EEXIST);
}

void tree_link(struct tree *tree, const char *path, const char *to)
{
	char full[PATH_MAX], target[PATH_MAX] = "";
	const char *at;

	tree_parents(tree, path, full);
	/* As sysfs has them: relative. */
	for (at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/'))
		strcat(target, "../");
	strcat(target, to + 1);
	CT_EXPECT_EQ(symlink(target, full), 0);
}

void tree_region(struct tree *tree, const char *domain)
{
	char text[64];

	snprintf(text, sizeof(text), "%s\n", domain);
	tree_file(tree, TREE_REGION "/persistence_domain", text);
}

void tree_devices(struct tree *tree)
{
	tree_dir(tree, TREE_REGION "/dax0.0/dax/dax0.0");
	tree_link(tree, "/sys/dev/char/251:7", TREE_REGION "/dax0.0/dax/dax0.0");
	tree_dir(tree, TREE_REGION "/namespace0.0/block/pmem0/pmem0p1");
	tree_link(tree, "/sys/dev/block/259:0", TREE_REGION "/namespace0.0/block/pmem0");
	tree_link(tree, "/sys/dev/block/259:1",
		  TREE_REGION "/namespace0.0/block/pmem0/pmem0p1");
}
