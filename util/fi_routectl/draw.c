/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <rdma/fi_errno.h>

#include "show.h"

extern char **environ;

static int wrong(const char *what, const char *why)
{
	fprintf(stderr, "fi_routectl: %s: %s\n", what, why);
	return -FI_EIO;
}

/* Runs dot(1) on a file of DOT. */
static int run_dot(const char *from, const char *to)
{
	const char *argv[] = {"dot", "-Tsvg", "-o", to, from, NULL};
	int status;
	pid_t pid;
	int ret = posix_spawnp(&pid, "dot", NULL, NULL, (char *const *)argv, environ);

	if (ret)
		return wrong("dot", ret == ENOENT ? "not found: install graphviz"
						  : strerror(ret));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return wrong("dot", strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return wrong(to, "dot could not write it");
	return 0;
}

static int draw_to(const struct rct_sim *sim, const struct rct_options *options,
		   FILE *out, const char *name)
{
	int ret = rct_dot(sim, options, out);

	if (ret == -FI_ENOENT)
		wrong("graph", "there is no route from --from to --to");
	if (fclose(out) && !ret)
		ret = wrong(name, strerror(errno));
	return ret;
}

static int draw_svg(const struct rct_sim *sim, const struct rct_options *options)
{
	char name[] = "/tmp/fi_routectl.XXXXXX";
	const int fd = mkstemp(name);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int ret;

	if (!out)
		return wrong(name, strerror(errno));
	ret = draw_to(sim, options, out, name);
	if (!ret)
		ret = run_dot(name, options->out);
	remove(name);
	return ret;
}

int rct_draw(const struct rct_sim *sim, const struct rct_options *options)
{
	const char *ending = options->out ? strrchr(options->out, '.') : NULL;
	FILE *out;

	if (!options->out)
		return draw_to(sim, options, stdout, "standard output");
	if (ending && !strcmp(ending, ".svg"))
		return draw_svg(sim, options);
	if (!ending || strcmp(ending, ".dot"))
		return wrong(options->out, "--output is FILE.svg or FILE.dot");
	out = fopen(options->out, "w");
	if (!out)
		return wrong(options->out, strerror(errno));
	return draw_to(sim, options, out, options->out);
}
