/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process has that it may have to give back. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fct.h"

int fct_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

long fct_memory_kib(pid_t pid, const char *name)
{
	const size_t len = strlen(name);
	char path[64], line[128];
	long kib = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && kib < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && line[len] == ':')
			kib = strtol(line + len + 1, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}
