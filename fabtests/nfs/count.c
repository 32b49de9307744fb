/* SPDX-License-Identifier: BSD-2-Clause */
/* The operations that the server knows, and how often each has come. */
#include <stdio.h>
#include <string.h>

#include "nfd.h"

static const struct {
	unsigned int op;
	const char *name;
} ops[] = {
	{OP_ACCESS, "access"},
	{OP_BIND_CONN_TO_SESSION, "bind"},
	{OP_CLOSE, "close"},
	{OP_CREATE_SESSION, "create_session"},
	{OP_DELEGRETURN, "delegreturn"},
	{OP_DESTROY_CLIENTID, "destroy_clientid"},
	{OP_DESTROY_SESSION, "destroy_session"},
	{OP_EXCHANGE_ID, "exchange_id"},
	{OP_GETATTR, "getattr"},
	{OP_GETFH, "getfh"},
	{OP_LOOKUP, "lookup"},
	{OP_OPEN, "open"},
	{OP_PUTFH, "putfh"},
	{OP_PUTROOTFH, "putrootfh"},
	{OP_READ, "read"},
	{OP_READDIR, "readdir"},
	{OP_RECLAIM_COMPLETE, "reclaim_complete"},
	{OP_SEQUENCE, "sequence"},
	{OP_WRITE, "write"},
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static unsigned int counts[OPS];
struct nfd_counts nfd_counts;

unsigned int nfd_op_number(const char *name)
{
	for (size_t i = 0; i < OPS; i++)
		if (!strcmp(ops[i].name, name))
			return ops[i].op;
	return 0;
}

bool nfd_op_count(unsigned int op)
{
	for (size_t i = 0; i < OPS; i++) {
		if (ops[i].op != op)
			continue;
		counts[i]++;
		return true;
	}
	nfd_counts.unknown++;
	return false;
}

void nfd_broken(const char *rule)
{
	nfd_counts.broken++;
	fprintf(stderr, "fi_cairn_nfsd: not kept: %s\n", rule);
}

void nfd_counts_print(void)
{
	printf("null %u\n", nfd_counts.null);
	for (size_t i = 0; i < OPS; i++)
		if (counts[i])
			printf("%s %u\n", ops[i].name, counts[i]);
	printf("unknown %u\nconnections %u\ncallbacks %u\ncallbacks_answered %u\n",
	       nfd_counts.unknown, nfd_counts.connections, nfd_counts.callbacks,
	       nfd_counts.callbacks_answered);
	printf("broken %u\n", nfd_counts.broken);
}
