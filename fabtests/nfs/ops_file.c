/* SPDX-License-Identifier: BSD-2-Clause */
/* Operations about names, attributes and data. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nfd.h"

static uint32_t getattr(struct nfd_request *request, const bitmap4 *wanted, fattr4 *attrs)
{
	struct stat st;
	uint32_t status = nfd_stat(request->node, &st);

	if (!status)
		nfd_fill_attrs(request, wanted, &st, attrs);
	return status;
}

static uint32_t read_file(struct nfd_request *request, const READ4args *args,
			  READ4resok *ok)
{
	uint32_t most = args->count < request->most ? args->count : request->most;
	struct stat st;
	ssize_t got;
	int fd;

	if (nfd_stat(request->node, &st))
		return NFC_STALE;
	if (!nfd_stateid(&args->stateid))
		return NFC_BAD_STATEID;
	if (most > NFD_MOST - 8192)
		most = NFD_MOST - 8192;
	fd = nfd_file(request->node, O_RDONLY);
	request->data = malloc(most + 1);
	if (fd < 0 || !request->data)
		return NFC_IO;
	got = pread(fd, request->data, most, (off_t)args->offset);
	close(fd);
	if (got < 0)
		return NFC_IO;
	request->data_len = (uint32_t)got;
	ok->length = (uint32_t)got + (request->fault == NFD_MORE);
	ok->eof = args->offset + (u64)got >= (u64)st.st_size || request->fault == NFD_EOF;
	return NFC_OK;
}

static uint32_t write_file(struct nfd_request *request, const WRITE4args *args,
			   WRITE4resok *ok)
{
	ssize_t done;
	int fd;

	if (args->length > request->behind_len)
		return NFC_BADXDR;
	if (!nfd_stateid(&args->stateid))
		return NFC_BAD_STATEID;
	fd = nfd_file(request->node, O_WRONLY);
	if (fd < 0)
		return NFC_STALE;
	done = pwrite(fd, request->behind, args->length, (off_t)args->offset);
	close(fd);
	if (done < 0)
		return NFC_IO;
	ok->count = (u_int)done + (request->fault == NFD_MORE);
	ok->committed = FILE_SYNC4;
	return NFC_OK;
}

/* Name and place only: all entries behind the cookie that fit. */
uint32_t nfd_readdir(struct nfd_request *request, const READDIR4args *args,
		     READDIR4resok *ok)
{
	DIR *dir = opendir(request->node->path);
	entry4 **tail = &ok->entries, *entry;
	struct dirent *from;
	u64 place = 2;
	u_int room = args->maxcount;

	if (!dir)
		return NFC_NOTDIR;
	ok->eof = TRUE;
	while ((from = readdir(dir))) {
		if (from->d_name[0] == '.' || ++place <= args->cookie)
			continue;
		if (room < 64 + strlen(from->d_name)) {
			ok->eof = FALSE;
			break;
		}
		room -= (u_int)(64 + strlen(from->d_name));
		entry = calloc(1, sizeof(*entry));
		if (!entry)
			break;
		entry->cookie = place;
		entry->name = nfc_text(strdup(from->d_name));
		*tail = entry;
		tail = &entry->next;
	}
	closedir(dir);
	request->entries = ok->entries;
	return ok->entries || ok->eof ? NFC_OK : NFC_TOOSMALL;
}

static uint32_t lookup(struct nfd_request *request, const text4 *name)
{
	struct stat st;

	if (nfd_stat(request->node, &st))
		return NFC_STALE;
	if (!S_ISDIR(st.st_mode))
		return NFC_NOTDIR;
	return nfd_lookup(request->node, name, false, &request->node);
}

/* Everybody may do everything. */
static uint32_t may(u_int what, ACCESS4resok *ok)
{
	ok->supported = ok->granted = what;
	return NFC_OK;
}

uint32_t nfd_file_op(struct nfd_request *request, const nfs_argop4 *arg, nfs_resop4 *res)
{
	switch (arg->op) {
	case OP_ACCESS:
		return may(arg->nfs_argop4_u.access,
			   &res->nfs_resop4_u.access.ACCESS4res_u.ok);
	case OP_PUTROOTFH:
	case OP_PUTFH:
		request->node =
			nfd_node(arg->op == OP_PUTFH ? &arg->nfs_argop4_u.putfh : NULL);
		return request->node ? NFC_OK : NFC_STALE;
	case OP_GETFH:
		nfd_fh(request->node, &res->nfs_resop4_u.getfh.GETFH4res_u.ok,
		       request->fh);
		return NFC_OK;
	case OP_LOOKUP:
		return lookup(request, &arg->nfs_argop4_u.lookup);
	case OP_GETATTR:
		return getattr(request, &arg->nfs_argop4_u.getattr,
			       &res->nfs_resop4_u.getattr.GETATTR4res_u.ok);
	case OP_READ:
		return read_file(request, &arg->nfs_argop4_u.read,
				 &res->nfs_resop4_u.read.READ4res_u.ok);
	case OP_WRITE:
		return write_file(request, &arg->nfs_argop4_u.write,
				  &res->nfs_resop4_u.write.WRITE4res_u.ok);
	default:
		return nfd_readdir(request, &arg->nfs_argop4_u.readdir,
				   &res->nfs_resop4_u.readdir.READDIR4res_u.ok);
	}
}
