/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks at the log of fi_cairn_append after its machine has ended. Exit status 0: every
 * acknowledged append is there, in order, none torn. One line says what was found.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "append.h"

#define MAPPED_AT 4096u

static uint64_t number(const char *text)
{
	char *end;
	const uint64_t value = strtoull(text, &end, 0);

	if (!*text || *end) {
		fprintf(stderr, "append_look: '%s' is not a number\n", text);
		exit(2);
	}
	return value;
}

int main(int argc, char **argv)
{
	const bool compound = argc > 3 && !strcmp(argv[3], "compound");
	uint64_t offset, acknowledged;
	struct append_found found;
	struct stat st;
	uint8_t *file;
	bool right;
	int fd;

	if (argc != 6 || (!compound && strcmp(argv[3], "singleton") != 0)) {
		fprintf(stderr, "Usage: append_look FILE OFFSET singleton|compound SEED "
				"ACKNOWLEDGED\n");
		return 2;
	}
	offset = number(argv[2]);
	acknowledged = number(argv[5]);
	fd = open(argv[1], O_RDONLY);
	if (fd < 0 || fstat(fd, &st) || (uint64_t)st.st_size < offset + APPEND_RECORDS ||
	    offset % MAPPED_AT) {
		fprintf(stderr, "append_look: no log at %s of %s\n", argv[2], argv[1]);
		return 2;
	}
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (file == MAP_FAILED) {
		perror("append_look: mmap");
		return 2;
	}
	fct_append_look(file + offset, (size_t)st.st_size - offset, number(argv[4]),
			&found);
	right = compound ? found.tail_right && found.tail >= acknowledged
			 : found.whole >= acknowledged;
	printf("%s: acknowledged %llu, whole %llu", right ? "ok" : "LOST",
	       (unsigned long long)acknowledged, (unsigned long long)found.whole);
	if (compound)
		printf(", tail %s %llu", found.tail_right ? "at" : "NOT AT A RECORD",
		       (unsigned long long)found.tail);
	printf("\n");
	return !right;
}
