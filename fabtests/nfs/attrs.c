/* SPDX-License-Identifier: BSD-2-Clause */
/* Attributes of files, in the order of their bits (RFC 8881 section 5). */
#include <stdio.h>
#include <sys/stat.h>

#include "nfd.h"

#define LEASE 60u
#define MOST_DATA (1u << 20)

static const unsigned char known[] = {
	FATTR4_SUPPORTED_ATTRS,
	FATTR4_TYPE,
	FATTR4_FH_EXPIRE_TYPE,
	FATTR4_CHANGE,
	FATTR4_SIZE,
	FATTR4_FSID,
	FATTR4_LEASE_TIME,
	FATTR4_FILEID,
	FATTR4_MAXFILESIZE,
	FATTR4_MAXNAME,
	FATTR4_MAXREAD,
	FATTR4_MAXWRITE,
	FATTR4_MODE,
	FATTR4_NUMLINKS,
	FATTR4_OWNER,
	FATTR4_OWNER_GROUP,
	FATTR4_SPACE_USED,
	FATTR4_TIME_ACCESS,
	FATTR4_TIME_METADATA,
	FATTR4_TIME_MODIFY,
	FATTR4_MOUNTED_ON_FILEID,
};

static void put_word(XDR *xdr, u_int value)
{
	xdr_u_int(xdr, &value);
}

static void put_long(XDR *xdr, u_quad_t value)
{
	xdr_u_quad_t(xdr, &value);
}

static void put_time(XDR *xdr, const struct timespec *time)
{
	put_long(xdr, (u_quad_t)time->tv_sec);
	put_word(xdr, (u_int)time->tv_nsec);
}

/* Owners are numbers as text (section 5.9). */
static void put_owner(XDR *xdr, unsigned int id)
{
	char text[16];
	text4 owner;

	snprintf(text, sizeof(text), "%u", id);
	owner = nfc_text(text);
	xdr_text4(xdr, &owner);
}

static void put_supported(XDR *xdr)
{
	u_int mask[2] = {0};

	for (size_t i = 0; i < sizeof(known); i++)
		mask[known[i] / 32] |= 1u << known[i] % 32;
	put_word(xdr, 2);
	put_word(xdr, mask[0]);
	put_word(xdr, mask[1]);
}

static u_quad_t change_of(const struct nfd_node *node, const struct stat *st)
{
	return (u_quad_t)st->st_ctim.tv_sec * 1000000000u +
	       (u_quad_t)st->st_ctim.tv_nsec + node->changes;
}

static void put(XDR *xdr, unsigned int attr, const struct nfd_node *node,
		const struct stat *st)
{
	switch (attr) {
	case FATTR4_SUPPORTED_ATTRS:
		put_supported(xdr);
		break;
	case FATTR4_TYPE:
		put_word(xdr, S_ISDIR(st->st_mode) ? NF4DIR : NF4REG);
		break;
	case FATTR4_FH_EXPIRE_TYPE:
		put_word(xdr, 0);
		break;
	case FATTR4_CHANGE:
		put_long(xdr, change_of(node, st));
		break;
	case FATTR4_SIZE:
		put_long(xdr, (u_quad_t)st->st_size);
		break;
	case FATTR4_FSID:
		put_long(xdr, 1);
		put_long(xdr, 0);
		break;
	case FATTR4_LEASE_TIME:
		put_word(xdr, LEASE);
		break;
	case FATTR4_FILEID:
	case FATTR4_MOUNTED_ON_FILEID:
		put_long(xdr, st->st_ino);
		break;
	case FATTR4_MAXFILESIZE:
		put_long(xdr, INT64_MAX);
		break;
	case FATTR4_MAXNAME:
		put_word(xdr, 255);
		break;
	case FATTR4_MAXREAD:
	case FATTR4_MAXWRITE:
		put_long(xdr, MOST_DATA);
		break;
	case FATTR4_MODE:
		put_word(xdr, st->st_mode & 07777);
		break;
	case FATTR4_NUMLINKS:
		put_word(xdr, (u_int)st->st_nlink);
		break;
	case FATTR4_OWNER:
		put_owner(xdr, st->st_uid);
		break;
	case FATTR4_OWNER_GROUP:
		put_owner(xdr, st->st_gid);
		break;
	case FATTR4_SPACE_USED:
		put_long(xdr, (u_quad_t)st->st_blocks * 512);
		break;
	case FATTR4_TIME_ACCESS:
		put_time(xdr, &st->st_atim);
		break;
	case FATTR4_TIME_METADATA:
		put_time(xdr, &st->st_ctim);
		break;
	case FATTR4_TIME_MODIFY:
		put_time(xdr, &st->st_mtim);
		break;
	}
}

void nfd_fill_attrs(struct nfd_request *request, const bitmap4 *wanted,
		    const struct stat *st, fattr4 *attrs)
{
	unsigned int word, bit;
	XDR xdr;

	request->mask[0] = request->mask[1] = 0;
	xdrmem_create(&xdr, request->values, sizeof(request->values), XDR_ENCODE);
	for (size_t i = 0; i < sizeof(known); i++) {
		word = known[i] / 32;
		bit = 1u << known[i] % 32;
		if (word >= wanted->bitmap4_len || !(wanted->bitmap4_val[word] & bit))
			continue;
		request->mask[word] |= bit;
		put(&xdr, known[i], request->node, st);
	}
	attrs->mask.bitmap4_len = request->mask[1] ? 2 : 1;
	attrs->mask.bitmap4_val = request->mask;
	attrs->values.values_len = xdr_getpos(&xdr);
	attrs->values.values_val = request->values;
}
