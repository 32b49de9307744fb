/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sockets below libfabric's provider tcp, which does not tell which descriptors they
 * are. Of other providers they would be somebody else's.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include "inside.h"

bool socket_below(const struct rte_port *port)
{
	return !strcmp(port->net->prov, "tcp");
}

int socket_find(bool (*is)(int fd, const void *what), const void *what)
{
	DIR *dir = opendir("/proc/self/fd");
	const struct dirent *entry;
	int fd, newest, found = -1;

	if (!dir)
		return -1;
	/* The directory has the lowest number that was free: what was opened last is
	 * often right below it, and thousands may be below that. */
	newest = dirfd(dir);
	for (fd = newest - 1; fd >= 0 && found < 0; fd--)
		if (is(fd, what))
			found = fd;
	while (found < 0 && (entry = readdir(dir))) {
		fd = atoi(entry->d_name);
		if (fd > newest && is(fd, what))
			found = fd;
	}
	closedir(dir);
	return found;
}
