/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "part.h"

#define LINE (PATH_MAX + 512)

static bool failed(const char *path)
{
	fprintf(stderr, "fi_nfsget: %s: %s\n", path, strerror(errno));
	return false;
}

/* What FILE.part.from holds for this version. Numbers are another file's elsewhere. */
static void version(char *line, const struct nfg_part *part,
		    const struct nfc_attrs *attrs)
{
	snprintf(line, LINE,
		 "fileid %" PRIu64 " change %" PRIu64 " size %" PRIu64 " of %s\n",
		 attrs->fileid, attrs->change, attrs->size, part->source);
}

static bool same_version(const struct nfg_part *part, const struct nfc_attrs *attrs)
{
	char wanted[LINE], found[LINE] = "";
	FILE *from = fopen(part->from, "r");
	bool same;

	if (!from)
		return false;
	version(wanted, part, attrs);
	same = fgets(found, sizeof(found), from) && !strcmp(found, wanted);
	fclose(from);
	return same;
}

/* Bytes that may stay. */
static bool look(struct nfg_part *part, const struct nfc_attrs *attrs)
{
	struct stat st;

	if (fstat(part->fd, &st))
		return failed(part->path);
	if (!st.st_size)
		return true;
	if (same_version(part, attrs) && (uint64_t)st.st_size <= attrs->size)
		part->have = (uint64_t)st.st_size;
	else
		fprintf(stderr,
			"fi_nfsget: %s is not of the file as it is now: from the start\n",
			part->path);
	return true;
}

/* The old bytes go first: they are never taken for those of the new version. */
static bool begin(struct nfg_part *part, const struct nfc_attrs *attrs)
{
	char line[LINE];
	FILE *from;

	if (ftruncate(part->fd, 0))
		return failed(part->path);
	version(line, part, attrs);
	unlink(part->from); /* not through a link to something else */
	from = fopen(part->from, "wx");
	if (!from)
		return failed(part->from);
	fputs(line, from);
	return fclose(from) ? failed(part->from) : true;
}

/* Not through a link to something else, nor waiting for a reader of what is no file. */
static bool take(struct nfg_part *part)
{
	part->fd = open(part->path,
			O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (part->fd < 0)
		return failed(part->path);
	if (!flock(part->fd, LOCK_EX | LOCK_NB))
		return true;
	if (errno != EWOULDBLOCK)
		return failed(part->path);
	fprintf(stderr, "fi_nfsget: another fi_nfsget writes %s\n", part->path);
	return false;
}

/* Another run that has ended since it was opened has made it a FILE. */
static bool still_there(const struct nfg_part *part)
{
	struct stat own, there;

	return !fstat(part->fd, &own) && !lstat(part->path, &there) &&
	       own.st_dev == there.st_dev && own.st_ino == there.st_ino;
}

bool nfg_part_open(struct nfg_part *part, const char *file, const char *source,
		   const struct nfc_attrs *attrs, bool goes_on)
{
	struct stat there;

	*part = (struct nfg_part){.file = file, .source = source, .fd = -1};
	if (!stat(file, &there) && S_ISDIR(there.st_mode)) {
		errno = EISDIR;
		return failed(file);
	}
	snprintf(part->path, sizeof(part->path), "%.*s.part", PATH_MAX - 16, file);
	snprintf(part->from, sizeof(part->from), "%.*s.part.from", PATH_MAX - 16, file);
	do {
		nfg_part_close(part);
		if (!take(part))
			return false;
	} while (!still_there(part));
	if (goes_on && !look(part, attrs))
		return false;
	if (!part->have && !begin(part, attrs))
		return false;
	return lseek(part->fd, (off_t)part->have, SEEK_SET) < 0 ? failed(part->path)
								: true;
}

bool nfg_part_write(struct nfg_part *part, const void *bytes, size_t len)
{
	const char *at = bytes;
	ssize_t done;

	while (len) {
		done = write(part->fd, at, len);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return failed(part->path);
		at += done;
		len -= (size_t)done;
		part->have += (uint64_t)done;
	}
	return true;
}

/* A name lasts when its folder does. */
static bool sync_folder(const char *file)
{
	char copy[PATH_MAX];
	int fd, ret;

	snprintf(copy, sizeof(copy), "%s", file);
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return failed(file);
	ret = fsync(fd);
	close(fd);
	return ret ? failed(file) : true;
}

bool nfg_part_finish(struct nfg_part *part)
{
	if (fsync(part->fd) || rename(part->path, part->file))
		return failed(part->file);
	unlink(part->from);
	return sync_folder(part->file);
}

void nfg_part_close(struct nfg_part *part)
{
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
}
