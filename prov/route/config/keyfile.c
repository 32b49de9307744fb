/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <rdma/fi_errno.h>
#include <cairn/compat.h>
#include "errors.h"

#define KEY_LEAST 16

/* What is wrong with it, and what to do; NULL: nothing. */
static const char *key_wrong(const struct stat *status, const char **hint)
{
	*hint = NULL;
	if (!S_ISREG(status->st_mode))
		return "is no regular file";
	*hint = "chmod 600";
	if (status->st_mode & 07077)
		return "is open to others than its owner";
	*hint = "chown";
	if (status->st_uid != geteuid() && status->st_uid != 0)
		return "belongs to another user";
	*hint = "16 to 4096 bytes";
	if (status->st_size < KEY_LEAST || status->st_size > RTE_CONFIG_KEY_MAX)
		return "has the wrong size";
	return NULL;
}

/* A FIFO would wait for its other end. */
static int key_open(const struct rte_config_key *key)
{
	return open(key->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static void check_key(const struct rte_config *config, const struct rte_config_key *key,
		      struct rte_config_errors *errors)
{
	const int fd = key_open(key);
	const char *why, *hint = NULL;
	struct stat status;

	if (fd < 0 || fstat(fd, &status)) {
		rte_error(errors, config->file, key->line, NULL,
			  "%.100s cannot be read: %s", key->file, strerror(errno));
	} else {
		why = key_wrong(&status, &hint);
		if (why)
			rte_error(errors, config->file, key->line, hint, "%.100s %s",
				  key->file, why);
	}
	if (fd >= 0)
		close(fd);
}

int rte_config_check_keys(const struct rte_config *config,
			  struct rte_config_errors *errors)
{
	const uint32_t before = errors->errors;
	uint32_t i, k;

	for (i = 0; i < config->devices; i++)
		for (k = 0; k < config->device[i].keys; k++)
			check_key(config, &config->device[i].key[k], errors);
	return errors->errors > before ? -FI_EINVAL : 0;
}

/* One byte more than a key may have shows that it has grown meanwhile. */
static ssize_t key_take(int fd, uint8_t secret[RTE_CONFIG_KEY_MAX])
{
	size_t have = 0;
	ssize_t got = 1;
	char more;

	while (have < RTE_CONFIG_KEY_MAX && got > 0) {
		got = read(fd, secret + have, RTE_CONFIG_KEY_MAX - have);
		if (got > 0)
			have += (size_t)got;
	}
	if (got > 0)
		got = read(fd, &more, 1);
	return got || have < KEY_LEAST ? -1 : (ssize_t)have;
}

int rte_config_key_read(const struct rte_config_key *key,
			uint8_t secret[RTE_CONFIG_KEY_MAX], size_t *len, char why[256])
{
	const int fd = key_open(key);
	const char *wrong, *hint;
	struct stat status;
	ssize_t got = -1;

	if (fd < 0 || fstat(fd, &status)) {
		snprintf(why, 256, "%.100s cannot be read: %s", key->file,
			 strerror(errno));
	} else if ((wrong = key_wrong(&status, &hint))) {
		snprintf(why, 256, "%.100s %s", key->file, wrong);
	} else {
		got = key_take(fd, secret);
		if (got < 0)
			snprintf(why, 256, "%.100s cannot be read whole", key->file);
	}
	if (fd >= 0)
		close(fd);
	*len = (size_t)CRN_MAX(got, (ssize_t)0);
	return got < 0 ? -FI_EINVAL : 0;
}
