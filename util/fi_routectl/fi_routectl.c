/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_routectl(1): routes of a network before it is there, and what a running router says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <rdma/fi_errno.h>

#include "live/live.h"
#include "show.h"

/* Reads all, and prints what is wrong with each and together: their number, or < 0. */
static int read_configs(const struct rct_options *options, struct rte_config **configs,
			uint32_t *count)
{
	static struct rte_config_errors errors;
	int ret = 0, i, one;

	*count = 0;
	for (i = 0; i < options->files; i++) {
		one = rte_config_read(options->file[i], &configs[*count], &errors);
		if (one) {
			ret = one;
			continue;
		}
		rte_config_check_names(configs[*count], &errors);
		++*count;
	}
	if (!ret)
		ret = rte_config_check_set(configs, *count, &errors);
	rte_config_errors_print(&errors, stderr);
	return ret;
}

static int print_configs(struct rte_config *const *configs, uint32_t count)
{
	uint32_t i;
	int ret = 0;

	for (i = 0; i < count && !ret; i++)
		ret = rte_config_write(stdout, configs[i]);
	return ret;
}

/* -FI_EINVAL: no configuration has the subnet of --from or --to, which is printed. */
static int check_end(const struct rct_sim *sim, const char *option, bool given,
		     struct rte_subnet subnet)
{
	const struct rct_as *as;
	uint32_t i;

	for (as = sim->as; as < sim->as + sim->ases; as++)
		for (i = 0; i < as->nets; i++)
			if (rct_wanted(given, subnet, as, &as->net[i]))
				return 0;
	if (!given)
		return 0;
	fprintf(stderr, "fi_routectl: %s %u:%u: no configuration has that subnet%s\n",
		option, subnet.as, subnet.subnet,
		subnet.as == RTE_AS_WAN ? "" : "; a WAN is 0:SUBNET");
	return -FI_EINVAL;
}

static int run(const struct rct_options *options, struct rct_sim *sim)
{
	int ret = check_end(sim, "--from", options->has_from, options->from), i;

	if (!ret)
		ret = check_end(sim, "--to", options->has_to, options->to);
	for (i = 0; i < options->fails && !ret; i++)
		ret = rct_sim_fail(sim, options->fail[i]);
	if (!ret)
		ret = rct_sim_run(sim, options->has_policy ? &options->policy : NULL);
	if (ret)
		return ret;
	switch (options->command) {
	case RCT_CHECK:
		return options->print ? print_configs(sim->config, sim->configs) : 0;
	case RCT_SIMULATE:
		return options->json ? rct_json(sim, options) : rct_sheet(sim, options);
	default:
		return rct_draw(sim, options);
	}
}

/* Of what failed before, the reason is not known any more. */
static bool output_done(void)
{
	const bool before = ferror(stdout);

	if (fflush(stdout))
		perror("fi_routectl: standard output");
	else if (before)
		fputs("fi_routectl: standard output: not all could be written\n", stderr);
	else
		return true;
	return false;
}

static int live(int argc, char **argv)
{
	const int status = rct_live(argc, argv);

	return output_done() ? status : 1;
}

int main(int argc, char **argv)
{
	static struct rct_options options;
	struct rte_config **configs;
	struct rct_sim sim = {0};
	uint32_t count = 0, i;
	int ret = -FI_ENOMEM;

	if (argc > 1 && rct_live_is(argv[1]))
		return live(argc - 1, argv + 1);
	rct_options(argc, argv, &options);
	configs = calloc((size_t)options.files, sizeof(struct rte_config *));
	if (configs)
		ret = read_configs(&options, configs, &count);
	if (!ret)
		ret = rct_sim_open(&sim, configs, count);
	if (!ret)
		ret = run(&options, &sim);
	if (ret == -FI_ENOMEM)
		fprintf(stderr, "fi_routectl: no memory\n");
	rct_sim_close(&sim);
	for (i = 0; i < count; i++)
		rte_config_free(configs[i]);
	free(configs);
	if (!ret && !output_done())
		ret = -FI_EIO;
	return ret ? 1 : 0;
}
