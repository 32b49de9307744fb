/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What connections cost: how many a second are made and closed, the memory of each, and a
 * read of a completion queue that serves them all while none of them does anything. Both
 * ends are in this process, so an end takes half of what is counted: resident memory
 * after the last connection stands and what was needed to connect is given back
 * (malloc_trim(3)), less what was resident before the first; completion queues are made
 * before that.
 *
 * One line: "conns provider=NAME count=N depth=D per_s=X close_per_s=X end_KiB=X
 * pinned_KiB=X idle_read_ns=X"; pinned is what the kernel holds in memory for the device.
 */
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ends.h"

#define PROGRAM "fi_cairn_conns"
#define MOST 100000
#define READS 100000
#define AT_A_TIME 256

static long count = 1000;
static struct ends ends;
static struct fid_ep **eps;
static struct fid_cq *cqs[2]; /* of who connects, and of who accepts */

/* Of /proc/self/status. */
static double status_kib(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	const size_t len = strlen(name);
	double kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':')
			kib = strtod(line + len + 1, NULL);
	if (f)
		fclose(f);
	return kib;
}

/* As many at a time as a listener with the default backlog takes. */
static void connect_all(void)
{
	long asked = 0, accepted = 0, connected = 0;
	struct fi_info *info;

	while (connected < 2 * count) {
		for (; asked < count && asked - connected / 2 < AT_A_TIME; asked++) {
			eps[asked] = bench_ends_ep(&ends, ends.info, cqs[0], 0);
			bench_ends_need(&ends,
					fi_connect(eps[asked], ends.info->dest_addr, NULL,
						   0),
					"fi_connect");
		}
		switch (bench_ends_event(&ends, &info)) {
		case FI_CONNREQ:
			eps[count + accepted] = bench_ends_ep(&ends, info, cqs[1], 0);
			bench_ends_need(&ends,
					fi_accept(eps[count + accepted++], NULL, 0),
					"fi_accept");
			fi_freeinfo(info);
			break;
		case FI_CONNECTED:
			connected++;
			break;
		default:
			bench_ends_need(&ends, -FI_EOTHER, "the next event");
		}
	}
}

static void close_all(void)
{
	long i;

	for (i = 0; i < 2 * count; i++)
		bench_ends_need(&ends, fi_close(&eps[i]->fid), "fi_close");
}

/* ns of an fi_cq_read that finds nothing. */
static double idle_read(void)
{
	struct fi_cq_entry entry;
	double start;
	int i;

	start = bench_ends_now_ns();
	for (i = 0; i < READS; i++)
		bench_ends_need(&ends,
				fi_cq_read(cqs[0], &entry, 1) == -FI_EAGAIN ? 0
									    : -FI_EOTHER,
				"fi_cq_read");
	return (bench_ends_now_ns() - start) / READS;
}

static void measure(void)
{
	double start, up, down, kib, pinned, idle;

	malloc_trim(0);
	kib = status_kib("VmRSS");
	pinned = status_kib("VmPin");
	start = bench_ends_now_ns();
	connect_all();
	up = bench_ends_now_ns();
	malloc_trim(0);
	kib = status_kib("VmRSS") - kib;
	pinned = status_kib("VmPin") - pinned;
	idle = idle_read();
	down = bench_ends_now_ns();
	close_all();
	down = bench_ends_now_ns() - down;
	printf("conns provider=%s count=%ld depth=%zu per_s=%.0f close_per_s=%.0f "
	       "end_KiB=%.2f pinned_KiB=%.2f idle_read_ns=%.0f\n",
	       ends.wish.provider, count, ends.wish.depth,
	       (double)count * 1e9 / (up - start), (double)count * 1e9 / down,
	       kib / (2 * (double)count), pinned / (2 * (double)count), idle);
}

static void usage(FILE *to)
{
	fputs("Usage: fi_cairn_conns [OPTION...] ADDRESS\n"
	      "Connections a second, and memory of each, both ends in this process.\n"
	      "ADDRESS is one of this machine's that the provider can use.\n"
	      "  -p PROVIDER  default: pverbs\n"
	      "  -n COUNT     connections (default 1000)\n"
	      "  -d DEPTH     of each queue of an endpoint (default 16)\n",
	      to);
}

int main(int argc, char **argv)
{
	struct ends_wish wish = {.program = PROGRAM,
				 .provider = "pverbs",
				 .threading = FI_THREAD_SAFE,
				 .depth = 16};
	int option;

	while ((option = getopt(argc, argv, "p:n:d:h")) != -1) {
		switch (option) {
		case 'p':
			wish.provider = optarg;
			break;
		case 'n':
			count = bench_ends_number(PROGRAM, optarg, MOST);
			break;
		case 'd':
			wish.depth = (size_t)bench_ends_number(PROGRAM, optarg, MOST);
			break;
		default:
			usage(option == 'h' ? stdout : stderr);
			return option == 'h' ? 0 : 2;
		}
	}
	if (optind + 1 != argc) {
		usage(stderr);
		return 2;
	}
	wish.address = argv[optind];
	bench_ends_open(&ends, &wish);
	eps = calloc(2 * (size_t)count, sizeof(*eps));
	bench_ends_need(&ends, eps ? 0 : -FI_ENOMEM, "memory");
	cqs[0] = bench_ends_cq(&ends, 2 * (size_t)count * wish.depth);
	cqs[1] = bench_ends_cq(&ends, 2 * (size_t)count * wish.depth);
	measure();
	bench_ends_need(&ends, fi_close(&cqs[0]->fid), "fi_close");
	bench_ends_need(&ends, fi_close(&cqs[1]->fid), "fi_close");
	bench_ends_close(&ends);
	free(eps);
	return 0;
}
