/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <libpmem.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "link.h"
#include "medium.h"

/* A devdax has no size of its own: sysfs tells. */
static size_t rlg_device_size(const struct stat *status)
{
	unsigned long long size = 0;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/dev/char/%u:%u/size", major(status->st_rdev),
		 minor(status->st_rdev));
	file = fopen(path, "r");
	if (file && fscanf(file, "%llu", &size) != 1)
		size = 0;
	if (file)
		fclose(file);
	return size;
}

static int rlg_medium_size(struct rlg_medium *medium, const char *path, uint64_t create)
{
	struct stat status;

	if (fstat(medium->fd, &status)) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	medium->size = S_ISCHR(status.st_mode) ? rlg_device_size(&status)
					       : (size_t)status.st_size;
	if (S_ISCHR(status.st_mode) && create && create < medium->size)
		medium->size = create;
	if (!medium->size && create && S_ISREG(status.st_mode)) {
		if (ftruncate(medium->fd, (off_t)create)) {
			rlg_say("%s: cannot be made %llu bytes long: %s", path,
				(unsigned long long)create, strerror(errno));
			return -1;
		}
		medium->size = create;
	}
	if (medium->size < RLG_SLOTS) {
		rlg_say("%s: the file is too small for a log%s", path,
			create ? "" : ": see --size");
		return -1;
	}
	return 0;
}

int rlg_medium_open(struct rlg_medium *medium, const char *path, uint64_t create,
		    bool writes)
{
	const int prot = PROT_READ | (writes ? PROT_WRITE : 0);
	void *at;

	*medium = (struct rlg_medium){
		.fd = open(path,
			   (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC |
				   (create ? O_CREAT : 0),
			   0600),
	};
	if (medium->fd < 0) {
		rlg_say("%s: %s", path, strerror(errno));
		return -1;
	}
	if (rlg_medium_size(medium, path, create)) {
		close(medium->fd);
		return -1;
	}
	/* mmap(2): without MAP_SYNC a file's blocks may be lost, whatever is flushed. */
	at = mmap(NULL, medium->size, prot, MAP_SHARED_VALIDATE | MAP_SYNC, medium->fd,
		  0);
	medium->direct = at != MAP_FAILED;
	if (!medium->direct)
		at = mmap(NULL, medium->size, prot, MAP_SHARED, medium->fd, 0);
	if (at == MAP_FAILED) {
		rlg_say("%s: cannot be mapped: %s", path, strerror(errno));
		close(medium->fd);
		return -1;
	}
	medium->at = at;
	return 0;
}

void rlg_medium_close(struct rlg_medium *medium)
{
	munmap(medium->at, medium->size);
	close(medium->fd);
}

void rlg_medium_persist(struct rlg_medium *medium, size_t at, size_t len)
{
	if (medium->direct)
		pmem_persist(medium->at + at, len);
	else
		pmem_msync(medium->at + at, len);
}
