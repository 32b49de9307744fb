/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <rdma/fi_errno.h>

#include "show.h"

extern char **environ;

static int wrong(const char *what, const char *why)
{
	fprintf(stderr, "fi_routectl: %s: %s\n", what, why);
	return -FI_EIO;
}

/* Runs dot(1) on the file of DOT, from its beginning. */
static int run_dot(int from, const char *to)
{
	const char *argv[] = {"dot", "-Tsvg", "-o", to, NULL};
	posix_spawn_file_actions_t actions;
	int status;
	pid_t pid;
	int ret;

	if (lseek(from, 0, SEEK_SET) < 0)
		return wrong("dot", strerror(errno));
	ret = posix_spawn_file_actions_init(&actions);
	if (ret)
		return wrong("dot", strerror(ret));
	ret = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	if (!ret)
		ret = posix_spawnp(&pid, "dot", &actions, NULL, (char *const *)argv,
				   environ);
	posix_spawn_file_actions_destroy(&actions);
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

/* All that was written has arrived there. */
static int draw_to(const struct rct_sim *sim, const struct rct_options *options,
		   FILE *out, const char *name)
{
	const int ret = rct_dot(sim, options, out);

	if (ret == -FI_ENOENT)
		return wrong("graph", "there is no route from --from to --to");
	if (!ret && (fflush(out) || ferror(out)))
		return wrong(name, strerror(errno));
	return ret;
}

/* In memory: nothing is left behind, whenever the program ends. */
static int draw_svg(const struct rct_sim *sim, const struct rct_options *options)
{
	const int fd = memfd_create("fi_routectl", MFD_CLOEXEC);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	int ret;

	if (!out) {
		ret = wrong("memory for dot", strerror(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	ret = draw_to(sim, options, out, "memory for dot");
	if (!ret)
		ret = run_dot(fd, options->out);
	fclose(out);
	return ret;
}

int rct_draw(const struct rct_sim *sim, const struct rct_options *options)
{
	const char *ending = options->out ? strrchr(options->out, '.') : NULL;
	FILE *out;
	int ret;

	if (!options->out)
		return draw_to(sim, options, stdout, "standard output");
	if (ending && !strcmp(ending, ".svg"))
		return draw_svg(sim, options);
	if (!ending || strcmp(ending, ".dot"))
		return wrong(options->out, "--output is FILE.svg or FILE.dot");
	out = fopen(options->out, "w");
	if (!out)
		return wrong(options->out, strerror(errno));
	ret = draw_to(sim, options, out, options->out);
	if (fclose(out) && !ret)
		ret = wrong(options->out, strerror(errno));
	return ret;
}
