/* SPDX-License-Identifier: BSD-2-Clause */
/* Everything at once, from several threads, for as long as one likes. */
#include <getopt.h>

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

static int option(int val, const char *arg)
{
	const uint64_t most = val == 'c'   ? ST_LANES
			      : val == 'j' ? ST_THREADS
			      : val == 'D' ? 86400
					   : UINT64_MAX;
	const uint64_t n = fct_number(arg, 1, most);

	if (val == 'c')
		fct_st_opts.lanes = (uint32_t)n;
	else if (val == 'j')
		fct_st_opts.threads = (uint32_t)n;
	else if (val == 'D')
		fct_st_opts.ms = (uint32_t)n * 1000;
	else
		fct_st_opts.seed = n;
	return n ? 0 : -1;
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
