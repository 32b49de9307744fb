/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything at once, from several threads, for as long as one likes. */
#include <getopt.h>
#include <stdlib.h>

#include "stress.h"

#define DEFAULT_MS 5000u
#define EMULATED_MS 2000u

FCT_CASE_CALL(safe, "all operations at once, FI_THREAD_SAFE",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE}))

FCT_CASE_CALL(domain, "the same, a domain for each thread (FI_THREAD_DOMAIN)",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_DOMAIN}))

FCT_CASE_CALL(small, "completion queues of one entry; threads sleep",
	      fct_st_run(&(struct st_mode){
		      .threading = FI_THREAD_SAFE, .small = true, .waits = true}))

FCT_CASE_CALL(counters, "counters agree with what was done",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE,
					   .counters = true}))

FCT_CASE_CALL(shared, "with a shared receive context",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE,
					   .shared_rx = true}))

FCT_CASE_CALL(reopen, "connections are closed and opened again meanwhile",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE, .reopen = true}))

FCT_CASE_CALL(reopen_domain, "the same with FI_THREAD_DOMAIN",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_DOMAIN,
					   .reopen = true}))

FCT_CASE_CALL(all, "all of it",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE,
					   .shared_rx = true,
					   .counters = true,
					   .reopen = true,
					   .small = true,
					   .waits = true}))

FCT_CASE_CALL(durable, "safe, with durable operations (FI_CAIRN_PMEM)",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE, .durable = true}))

FCT_CASE_CALL(durable_domain, "domain, with durable operations",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_DOMAIN,
					   .durable = true}))

FCT_CASE_CALL(durable_reopen, "reopen, with durable operations",
	      fct_st_run(&(struct st_mode){
		      .threading = FI_THREAD_SAFE, .reopen = true, .durable = true}))

FCT_CASE_CALL(durable_all, "all of it, with durable operations",
	      fct_st_run(&(struct st_mode){.threading = FI_THREAD_SAFE,
					   .shared_rx = true,
					   .counters = true,
					   .reopen = true,
					   .small = true,
					   .waits = true,
					   .durable = true}))

static int number(const char *arg, uint32_t most, uint32_t *value)
{
	char *end;
	unsigned long n = strtoul(arg, &end, 10);

	if (!*arg || *end || !n || n > most) {
		fprintf(stderr, "fi_cairn_stress: '%s' is not a number from 1 to %u\n",
			arg, most);
		return -1;
	}
	*value = (uint32_t)n;
	return 0;
}

static int option(int val, const char *arg)
{
	uint32_t seconds;
	char *end;

	switch (val) {
	case 'c':
		return number(arg, ST_LANES, &fct_st_opts.lanes);
	case 'j':
		return number(arg, ST_THREADS, &fct_st_opts.threads);
	case 'D':
		if (number(arg, 86400, &seconds))
			return -1;
		fct_st_opts.ms = seconds * 1000;
		return 0;
	default:
		fct_st_opts.seed = strtoull(arg, &end, 0);
		return *arg && !*end ? 0 : -1;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"connections", required_argument, NULL, 'c'},
		{"threads", required_argument, NULL, 'j'},
		{"duration", required_argument, NULL, 'D'},
		{"seed", required_argument, NULL, 'r'},
		{0}};
	static const struct fct_prog prog = {
		.name = "fi_cairn_stress",
		.what = "Everything at once, from several threads.",
		.options = options,
		.option = option,
		.help = "  -c, --connections=COUNT client: how many (default 6, at most "
			"16)\n"
			"  -j, --threads=COUNT     client: of each side (default 3)\n"
			"  -D, --duration=SECONDS  client: of each case (default 5, on "
			"emulated machines 2);\n"
			"                          the deadline of the run, -T, must be "
			"longer on both sides\n"
			"  -r, --seed=NUMBER       client: what happens (default: of the "
			"clock)\n",
	};

	fct_st_opts.seed = fct_now_ns();
	fct_st_opts.ms = fct_time_scale() > 1 ? EMULATED_MS : DEFAULT_MS;
	return fct_main(argc, argv, &prog);
}
