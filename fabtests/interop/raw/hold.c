/* SPDX-License-Identifier: BSD-2-Clause */
/* Who connects and says nothing, as often as it may. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "raw.h"

static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	(void)sig;
	stop = 1;
}

int raw_hold(const struct sockaddr_in *at, const struct raw_place *on, unsigned int role,
	     unsigned int most)
{
	struct raw_conn **conn = calloc(most, sizeof(conn[0]));
	unsigned int count = 0;
	uint8_t preamble[32];
	struct raw raw;

	if (!conn || raw_open(&raw, NULL))
		return 1;
	signal(SIGTERM, on_term);
	raw_preamble(preamble, role, 0x7777, on);
	while (count < most && !stop) {
		conn[count] = raw_connect(&raw, at, preamble, sizeof(preamble), true);
		if (!conn[count])
			break;
		count++;
	}
	printf("holds %u\n", count);
	fflush(stdout);
	while (!stop) {
		raw_progress(&raw);
		usleep(10000);
	}
	while (count)
		raw_end(conn[--count]);
	raw_close(&raw);
	free(conn);
	return 0;
}
