/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include <sys/stat.h>
#include "keyring.h"

/* FNV-1a. */
static uint64_t mark_add(uint64_t mark, uint64_t value)
{
	int i;

	for (i = 0; i < 64; i += 8)
		mark = (mark ^ (value >> i & 0xff)) * 0x100000001b3u;
	return mark;
}

/* What changes with a file, also where another one takes its place. */
static uint64_t mark_file(uint64_t mark, const char *path)
{
	struct stat status;

	if (stat(path, &status))
		return mark_add(mark, 0);
	mark = mark_add(mark, status.st_dev);
	mark = mark_add(mark, status.st_ino);
	mark = mark_add(mark, (uint64_t)status.st_size);
	mark = mark_add(mark, (uint64_t)status.st_mtim.tv_sec);
	mark = mark_add(mark, (uint64_t)status.st_mtim.tv_nsec);
	mark = mark_add(mark, (uint64_t)status.st_ctim.tv_sec);
	return mark_add(mark, (uint64_t)status.st_ctim.tv_nsec);
}

static uint64_t mark_files(const struct rte_config *config,
			   const struct rte_config_device *device)
{
	uint64_t mark = mark_file(0xcbf29ce484222325u, config->file);
	uint32_t i;

	for (i = 0; i < device->keys; i++)
		mark = mark_file(mark, device->key[i].file);
	return mark;
}

static const struct rte_config_device *section(const struct rte_config *config,
					       const char *name)
{
	uint32_t i;

	for (i = 0; i < config->devices; i++)
		if (!strcmp(config->device[i].name, name))
			return &config->device[i];
	return NULL;
}

/* The configuration that the newest keys are from. */
static const struct rte_config *newest(const struct rte_device *device)
{
	return device->keyring.config ? device->keyring.config : device->fabric->config;
}

int rte_keyring_open(struct rte_device *device)
{
	const struct rte_config *config = device->fabric->config;
	struct rte_keyring *keyring = &device->keyring;
	char why[256] = "no memory";
	int ret;

	if (!device->config->keys)
		return 0;
	keyring->mark = mark_files(config, device->config);
	ret = rte_auth_ring_read(device->config, &keyring->ring, why);
	if (!ret)
		return 0;
	RTE_WARN(FI_LOG_FABRIC, "device %s has no keys: %s\n", device->config->name, why);
	if (ret == -FI_EINVAL)
		ret = -FI_EACCES;
	return device->config->auth == RTE_AUTH_REQUIRED ? ret : 0;
}

/* 0: *ring is what the file says now; its configuration is the caller's. */
static int read_again(const struct rte_device *device, struct rte_config **config,
		      struct rte_auth_ring **ring, char why[256])
{
	struct rte_config_errors errors = {0};
	const struct rte_config_device *now;
	int ret = rte_config_read(newest(device)->file, config, &errors);

	if (ret) {
		snprintf(why, 256, "%s has errors", newest(device)->file);
		return ret;
	}
	now = section(*config, device->config->name);
	if (now && now->keys)
		return rte_auth_ring_read(now, ring, why);
	snprintf(why, 256, "%s names none", newest(device)->file);
	return -FI_EINVAL;
}

void rte_keyring_look(struct rte_device *device)
{
	struct rte_keyring *keyring = &device->keyring;
	struct rte_auth_ring *ring = NULL;
	struct rte_config *config = NULL;
	const struct rte_config_device *of;
	char why[256] = "no memory";
	uint64_t mark;

	if (!device->config->keys)
		return;
	of = section(newest(device), device->config->name);
	mark = mark_files(newest(device), of);
	if (mark == keyring->mark)
		return;
	keyring->mark = mark;
	if (read_again(device, &config, &ring, why)) {
		RTE_WARN(FI_LOG_EP_CTRL, "device %s: its keys stay as they were: %s\n",
			 device->config->name, why);
		rte_config_free(config);
		return;
	}
	RTE_INFO(FI_LOG_EP_CTRL, "device %s: new keys\n", device->config->name);
	rte_auth_ring_free(keyring->ring);
	rte_config_free(keyring->config);
	keyring->ring = ring;
	keyring->config = config;
	keyring->mark = mark_files(config, section(config, device->config->name));
	device->port->attr.keys = ring;
}

void rte_keyring_close(struct rte_device *device)
{
	rte_auth_ring_free(device->keyring.ring);
	rte_config_free(device->keyring.config);
}
