/* SPDX-License-Identifier: BSD-2-Clause */
/* The folder that is served. A handle is the number of a node and a magic word. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "nfd.h"

#define MAGIC 0x6e666430u

static struct nfd_node nodes[NFD_HANDLES];
static uint32_t count;

static uint32_t status_of(int error)
{
	switch (error) {
	case ENOENT:
		return NFC_NOENT;
	case EACCES:
	case EPERM:
		return NFC_ACCESS;
	case ENOTDIR:
		return NFC_NOTDIR;
	case EISDIR:
		return NFC_ISDIR;
	default:
		return NFC_IO;
	}
}

bool nfd_tree_open(const char *folder)
{
	struct stat st;

	if (stat(folder, &st) || !S_ISDIR(st.st_mode) ||
	    strlen(folder) >= sizeof(nodes[0].path))
		return false;
	strcpy(nodes[0].path, folder);
	nodes[0].number = st.st_ino;
	count = 1;
	return true;
}

struct nfd_node *nfd_node(const nfs_fh4 *fh)
{
	uint32_t words[2];

	if (!fh)
		return nodes;
	if (fh->data.data_len != sizeof(words))
		return NULL;
	memcpy(words, fh->data.data_val, sizeof(words));
	return words[0] == MAGIC && words[1] < count ? &nodes[words[1]] : NULL;
}

void nfd_fh(const struct nfd_node *node, nfs_fh4 *fh, char *bytes)
{
	const uint32_t words[2] = {MAGIC, (uint32_t)(node - nodes)};

	memcpy(bytes, words, sizeof(words));
	fh->data.data_len = sizeof(words);
	fh->data.data_val = bytes;
}

static struct nfd_node *node_for(const char *path, ino_t number)
{
	for (uint32_t i = 0; i < count; i++)
		if (!strcmp(nodes[i].path, path) && nodes[i].number == number)
			return &nodes[i];
	if (count == NFD_HANDLES)
		return NULL;
	strcpy(nodes[count].path, path);
	nodes[count].number = number;
	return &nodes[count++];
}

uint32_t nfd_lookup(const struct nfd_node *dir, const text4 *name, bool create,
		    struct nfd_node **found)
{
	char path[sizeof(dir->path)];
	struct stat st;
	int len, fd;

	len = snprintf(path, sizeof(path), "%s/%.*s", dir->path, (int)name->text4_len,
		       name->text4_val);
	if (len >= (int)sizeof(path) || !name->text4_len ||
	    memchr(name->text4_val, '/', name->text4_len) || name->text4_val[0] == '.')
		return NFC_INVAL;
	if (create) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		if (fd < 0)
			return status_of(errno);
		close(fd);
	}
	if (lstat(path, &st))
		return status_of(errno);
	*found = node_for(path, st.st_ino);
	return *found ? NFC_OK : NFC_IO;
}

/* Another file of that name is not the one that the handle is for. */
uint32_t nfd_stat(const struct nfd_node *node, struct stat *st)
{
	if (lstat(node->path, st) || st->st_ino != node->number)
		return NFC_STALE;
	return NFC_OK;
}

int nfd_file(const struct nfd_node *node, int flags)
{
	return open(node->path, flags | O_CLOEXEC);
}
