/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cairn/pmem.h>

static int host_stat(const char *path, struct stat *st)
{
	return stat(path, st);
}

const struct crn_host crn_host = {.root = "", .stat = host_stat};

static bool host_path(const struct crn_host *host, const char *path, char out[PATH_MAX])
{
	return snprintf(out, PATH_MAX, "%s%s", host->root, path) < PATH_MAX;
}

bool crn_host_line(const struct crn_host *host, const char *path, char *line, size_t size)
{
	char full[PATH_MAX];
	FILE *file = host_path(host, path, full) ? fopen(full, "re") : NULL;
	bool ok;

	*line = '\0';
	if (!file)
		return false;
	ok = fgets(line, (int)size, file);
	fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return ok;
}

bool crn_host_exists(const struct crn_host *host, const char *path)
{
	char full[PATH_MAX];

	return host_path(host, path, full) && !access(full, F_OK);
}

bool crn_host_resolve(const struct crn_host *host, const char *path, char out[PATH_MAX])
{
	char full[PATH_MAX], real[PATH_MAX], root[PATH_MAX] = "";
	size_t len;

	if (!host_path(host, path, full) || !realpath(full, real) ||
	    (*host->root && !realpath(host->root, root)))
		return false;
	len = strlen(root);
	if (strncmp(real, root, len) != 0)
		return false;
	memmove(out, real + len, strlen(real + len) + 1);
	return true;
}
