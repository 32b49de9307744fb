/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The same operations of a file by the client of util/nfs and by the kernel's own mount
 * of the same export: GETATTR, and READ and WRITE of 1 MiB, so many at once. The mount's
 * are asked for so that no cache answers: statx(2) with AT_STATX_FORCE_SYNC, O_DIRECT.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "file.h"

#define PIECE (1u << 20)
#define PIECES 64u /* of the file */
#define WAYS 16u   /* at once */

enum op { GETATTR, READ, WRITE };
static const char *const op_names[] = {"getattr", "read", "write"};

struct speed {
	enum op op;
	unsigned int count, ways;
	const char *mount; /* the file; NULL: the session's */
	int fd;
	struct nfc_session session;
	struct nfc_file file;
	uint8_t *memory;
	uint64_t next; /* piece of the file */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The next ways pieces, which lie beside one another. */
static uint64_t next_offset(struct speed *s)
{
	const uint64_t offset = s->next % PIECES * PIECE;

	s->next += s->ways;
	return offset;
}

static int mount_once(struct speed *s)
{
	const size_t len = (size_t)s->ways * PIECE;
	struct statx attrs;
	ssize_t got;

	if (s->op == GETATTR)
		return statx(s->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
			     STATX_BASIC_STATS, &attrs);
	got = s->op == READ ? pread(s->fd, s->memory, len, (off_t)next_offset(s))
			    : pwrite(s->fd, s->memory, len, (off_t)next_offset(s));
	return got == (ssize_t)len ? 0 : -1;
}

static int session_reads(struct speed *s)
{
	const uint64_t offset = next_offset(s);
	uint32_t got;
	bool eof;

	for (unsigned int i = 0; i < s->ways; i++)
		if (nfc_read_start(&s->session, i, &s->file, offset + i * (uint64_t)PIECE,
				   s->memory + i * (size_t)PIECE, PIECE))
			return -1;
	for (unsigned int i = 0; i < s->ways; i++)
		if (nfc_read_finish(&s->session, i, &got, &eof) || got != PIECE)
			return -1;
	return 0;
}

static int session_once(struct speed *s)
{
	struct nfc_attrs attrs;
	uint32_t done;

	if (s->op == GETATTR)
		return nfc_attrs(&s->session, &s->file.handle, &attrs);
	if (s->op == READ)
		return session_reads(s);
	return nfc_write(&s->session, &s->file, next_offset(s), s->memory, PIECE,
			 &done) ||
	       done != PIECE;
}

static int compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static int measure(struct speed *s)
{
	uint64_t *ns = calloc(s->count, sizeof(*ns)), start;
	unsigned int i;

	for (i = 0; ns && i < s->count; i++) {
		start = now_ns();
		if (s->mount ? mount_once(s) : session_once(s))
			break;
		ns[i] = now_ns() - start;
	}
	if (!ns || i < s->count) {
		fprintf(stderr, "fi_cairn_nfs_speed: %s %u: %s\n", op_names[s->op], i,
			s->mount ? strerror(errno) : s->session.conn.link.why);
		free(ns);
		return 1;
	}
	qsort(ns, s->count, sizeof(*ns), compare);
	printf("op=%s ways=%u count=%u ns=%llu least=%llu\n", op_names[s->op], s->ways,
	       s->count, (unsigned long long)ns[s->count / 2], (unsigned long long)ns[0]);
	free(ns);
	return 0;
}

static int run_mount(struct speed *s)
{
	int ret;

	s->fd = open(s->mount, O_RDWR | O_DIRECT);
	if (s->fd < 0) {
		fprintf(stderr, "fi_cairn_nfs_speed: %s: %s\n", s->mount,
			strerror(errno));
		return 1;
	}
	ret = measure(s);
	close(s->fd);
	return ret;
}

static int run_session(struct speed *s, const struct nfc_where *where, const char *path)
{
	const uint32_t access = OPEN4_SHARE_ACCESS_READ | OPEN4_SHARE_ACCESS_WRITE;
	int ret = 1;

	if (nfc_session_open(&s->session, where) ||
	    nfc_open(&s->session, path, access, &s->file)) {
		fprintf(stderr, "fi_cairn_nfs_speed: %s\n", s->session.conn.link.why);
	} else {
		ret = measure(s);
		nfc_close(&s->session, &s->file);
	}
	nfc_session_close(&s->session);
	return ret;
}

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_nfs_speed [OPTION...] -m FILE | ADDRESS PATH\n"
	      "Times operations of a file of 64 MiB, in ns: the median and the least.\n"
	      "  -m FILE   on a mount of the kernel's\n"
	      "  -o OP     getattr (default), read or write: 1 MiB\n"
	      "  -n COUNT  default: 1000\n"
	      "  -w WAYS   reads at once (default: 1)\n"
	      "  -p STACK  libfabric's provider (default: pverbs;rpcrdma)\n"
	      "  -P PORT   default: 20049\n",
	      to);
}

/* enum op, or -1. */
static int op_of(const char *name)
{
	for (int i = GETATTR; i <= WRITE; i++)
		if (!strcmp(name, op_names[i]))
			return i;
	return -1;
}

int main(int argc, char **argv)
{
	struct nfc_where where = {.provider = "pverbs;rpcrdma",
				  .port = "20049",
				  .timeout = 20};
	static struct speed s = {.count = 1000, .ways = 1};
	int option, op = GETATTR;

	while ((option = getopt(argc, argv, "m:o:n:w:p:P:h")) != -1) {
		switch (option) {
		case 'm':
			s.mount = optarg;
			break;
		case 'o':
			op = op_of(optarg);
			break;
		case 'n':
			s.count = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'w':
			s.ways = (unsigned int)strtoul(optarg, NULL, 10);
			break;
		case 'p':
			where.provider = optarg;
			break;
		case 'P':
			where.port = optarg;
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + (s.mount ? 0 : 2) != argc || op < 0 || !s.count || !s.ways ||
	    s.ways > WAYS || (s.ways > 1 && op != READ)) {
		usage(stderr);
		return 2;
	}
	s.op = (enum op)op;
	where.slots = s.ways;
	s.memory = aligned_alloc(4096, (size_t)s.ways * PIECE);
	if (!s.memory)
		return 1;
	memset(s.memory, 'c', (size_t)s.ways * PIECE);
	if (!s.mount)
		where.host = argv[optind];
	op = s.mount ? run_mount(&s) : run_session(&s, &where, argv[optind + 1]);
	free(s.memory);
	return op;
}
