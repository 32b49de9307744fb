/* SPDX-License-Identifier: BSD-2-Clause */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include "model/model.h"
#include "ports.h"
#include "shared/shared.h"
#include "sysfs.h"

static const char svb_sysfs_class[] = "/sys/class/";
static const char svb_sysfs_mine[] = "/sys/class/infiniband";
#define SVB_SYSFS_COUNTS "hw_counters"
static const char svb_sysfs_dev[] = "/dev/infiniband/uverbs";

static struct {
	pthread_mutex_t mutex;
	char root[SVB_SYSFS_PATH / 2]; /* "": not made yet */
} svb_sysfs = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* One text file of the tree: its path below the root, then its contents, both ended by 0.
 */
static void __attribute__((format(printf, 3, 4)))
svb_sysfs_add(FILE *tree, const char *path, const char *format, ...)
{
	va_list args;

	fprintf(tree, "%s%c", path, 0);
	va_start(args, format);
	vfprintf(tree, format, args);
	va_end(args);
	fprintf(tree, "\n%c", 0);
}

static void svb_sysfs_gid(FILE *tree, const char *port_path, const struct svb_port *port,
			  uint32_t i)
{
	const uint8_t *raw = port->gid[i].raw;
	const struct svb_address *address = svb_port_address(port, i);
	char path[SVB_SYSFS_PATH], text[40];
	size_t at = 0;
	int k;

	for (k = 0; k < 16; k += 2)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%02x%02x",
				       k ? ":" : "", raw[k], raw[k + 1]);
	snprintf(path, sizeof(path), "%.200s/gids/%u", port_path, i);
	svb_sysfs_add(tree, path, "%s", text);
	snprintf(path, sizeof(path), "%.200s/gid_attrs/types/%u", port_path, i);
	svb_sysfs_add(tree, path, "%s",
		      port->gid_type[i] == IBV_GID_TYPE_ROCE_V2 ? "RoCE v2"
								: "IB/RoCE v1");
	if (!port->gid_types || !address)
		return;
	snprintf(path, sizeof(path), "%.200s/gid_attrs/ndevs/%u", port_path, i);
	svb_sysfs_add(tree, path, "%s", address->ifname);
}

/* Has an address before that one the same interface? */
static bool svb_sysfs_listed(const struct svb_port *port, uint32_t address)
{
	uint32_t i;

	for (i = 0; i < address; i++)
		if (!strcmp(port->address[i].ifname, port->address[address].ifname))
			return true;
	return false;
}

/* The network interfaces of the device: those that have its addresses. */
static void svb_sysfs_interfaces(FILE *tree, const char *device, uint32_t number,
				 const struct svb_port *port)
{
	const struct svb_address *address;
	char path[SVB_SYSFS_PATH];
	uint32_t i;

	for (i = 0; i < port->addresses; i++) {
		address = &port->address[i];
		if (!*address->ifname || svb_sysfs_listed(port, i))
			continue;
		snprintf(path, sizeof(path), "infiniband/%.64s/device/net/%s/ifindex",
			 device, address->ifname);
		svb_sysfs_add(tree, path, "%u", address->ifindex);
		snprintf(path, sizeof(path), "infiniband/%.64s/device/net/%s/dev_port",
			 device, address->ifname);
		svb_sysfs_add(tree, path, "%u", number - 1);
	}
}

static void svb_sysfs_port(FILE *tree, const char *device, uint32_t number,
			   const struct svb_port *port)
{
	bool ib = svb_self.settings.link == SVB_LINK_IB;
	const struct {
		const char *name;
		const char *text;
	} files[] = {
		{"state", "4: ACTIVE"},
		{"phys_state", "5: LinkUp"},
		{"link_layer", ib ? "InfiniBand" : "Ethernet"},
		{"rate", "100 Gb/sec (4X EDR)"},
		{"cap_mask", "0x00010000"},
		{"lid_mask_count", "0"},
		{"sm_lid", ib ? "0x1" : "0x0"},
		{"sm_sl", "0"},
	};
	char prefix[SVB_SYSFS_PATH], path[SVB_SYSFS_PATH + 64];
	size_t i;

	snprintf(prefix, sizeof(prefix), "infiniband/%.64s/ports/%u", device, number);
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", prefix, files[i].name);
		svb_sysfs_add(tree, path, "%s", files[i].text);
	}
	snprintf(path, sizeof(path), "%s/lid", prefix);
	svb_sysfs_add(tree, path, "0x%x", port->lid);
	for (i = 0; i < port->pkeys; i++) {
		snprintf(path, sizeof(path), "%s/pkeys/%zu", prefix, i);
		svb_sysfs_add(tree, path, "0x%04x", port->pkey[i]);
	}
	for (i = 0; i < SVB_COUNTS; i++) {
		snprintf(path, sizeof(path), "%s/" SVB_SYSFS_COUNTS "/%s", prefix,
			 svb_count_names[i]);
		svb_sysfs_add(tree, path, "0");
	}
	for (i = 0; i < svb_port_gids(port); i++)
		svb_sysfs_gid(tree, prefix, port, (uint32_t)i);
	svb_sysfs_interfaces(tree, device, number, port);
}

static void svb_sysfs_guid(FILE *tree, const char *device, const char *name,
			   uint64_t guid)
{
	char path[SVB_SYSFS_PATH];

	snprintf(path, sizeof(path), "infiniband/%.64s/%s", device, name);
	svb_sysfs_add(tree, path, "%04x:%04x:%04x:%04x", (unsigned int)(guid >> 48),
		      (unsigned int)(guid >> 32 & 0xffff),
		      (unsigned int)(guid >> 16 & 0xffff), (unsigned int)(guid & 0xffff));
}

/* What the device models, for who chooses how to make data durable there: simverbs(1). */
static void svb_sysfs_facts(FILE *tree, const char *device)
{
	static const char *const domains[] = {"dmp", "mhp", "wsp"};
	static const char *const drains[] = {"at_once", "random", "explore"};
	const struct svb_settings *set = &svb_self.settings;
	bool iwarp = set->link == SVB_LINK_IWARP;
	const struct {
		const char *name;
		const char *text;
	} facts[] = {
		{"persistence_domain", domains[set->domain]},
		{"ddio", set->ddio ? "on" : "off"},
		{"completion", iwarp ? "departure" : "arrival"},
		{"placement", iwarp || set->relaxed ? "relaxed" : "ordered"},
		{"native_flush", set->flush && !iwarp ? "yes" : "no"},
		{"persistent_file", set->persistent},
		{"persistent_mapping", svb_medium_mapping()},
		{"drain",
		 svb_medium_wanted() && *set->choices ? "list" : drains[set->drain]},
	};
	char path[SVB_SYSFS_PATH];
	size_t i;

	for (i = 0; i < sizeof(facts) / sizeof(facts[0]); i++) {
		snprintf(path, sizeof(path), "infiniband/%.64s/simverbs/%s", device,
			 facts[i].name);
		svb_sysfs_add(tree, path, "%s", facts[i].text);
	}
}

/* As verbs/device_attr.c reports the device. */
static void svb_sysfs_device(FILE *tree, const struct svb_device_settings *device,
			     uint32_t index)
{
	static const struct {
		const char *name;
		const char *text;
	} files[] = {
		{"node_desc", "simverbs software device"},
		{"fw_ver", "simverbs"},
		{"hw_rev", "0"},
		{"hca_type", "simverbs"},
		{"board_id", "simverbs"},
		{"device/vendor", "0x0000"},
		{"device/device", "0x0001"},
		{"device/numa_node", "-1"},
		{"device/local_cpulist", "0"},
	};
	char path[SVB_SYSFS_PATH];
	uint32_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "infiniband/%.64s/%s", device->name,
			 files[i].name);
		svb_sysfs_add(tree, path, "%s", files[i].text);
	}
	snprintf(path, sizeof(path), "infiniband/%.64s/node_type", device->name);
	svb_sysfs_add(tree, path, "%s",
		      svb_self.settings.link == SVB_LINK_IWARP ? "4: RNIC" : "1: CA");
	svb_sysfs_guid(tree, device->name, "node_guid", device->guid);
	svb_sysfs_guid(tree, device->name, "sys_image_guid", device->guid);
	snprintf(path, sizeof(path), "infiniband_verbs/uverbs%u/ibdev", index);
	svb_sysfs_add(tree, path, "%s", device->name);
	snprintf(path, sizeof(path), "infiniband_verbs/uverbs%u/dev", index);
	svb_sysfs_add(tree, path, "231:%u", 192 + index);
	snprintf(path, sizeof(path), "infiniband_verbs/uverbs%u/abi_version", index);
	svb_sysfs_add(tree, path, "1");
	svb_sysfs_facts(tree, device->name);
	for (i = 0; i < device->ports; i++)
		svb_sysfs_port(tree, device->name, i + 1, &device->port[i]);
}

/* All files of the tree, one after the other. NULL: no memory. */
static char *svb_sysfs_list(size_t *size)
{
	char *text = NULL;
	FILE *tree = open_memstream(&text, size);
	uint32_t i;

	if (!tree)
		return NULL;
	svb_sysfs_add(tree, "infiniband_verbs/abi_version", "6");
	for (i = 0; i < svb_self.settings.devices; i++)
		svb_sysfs_device(tree, &svb_self.settings.device[i], i);
	if (fclose(tree)) {
		free(text);
		return NULL;
	}
	return text;
}

static bool svb_sysfs_write(int root, char *path, const char *text)
{
	size_t len = strlen(text);
	char *slash;
	int fd;
	bool ok;

	for (slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(root, path, 0700) && errno != EEXIST)
			return false;
		*slash = '/';
	}
	fd = openat(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0400);
	if (fd < 0)
		return errno == EACCES;
	ok = write(fd, text, len) == (ssize_t)len;
	return !close(fd) && ok;
}

/* Only a tree that is complete has this file. */
static bool svb_sysfs_make(int root, char *list, size_t size)
{
	char complete[] = "complete", *at = list, *text;

	if (!faccessat(root, complete, F_OK, 0))
		return true;
	while (at < list + size) {
		text = at + strlen(at) + 1;
		if (!svb_sysfs_write(root, at, text))
			return false;
		at = text + strlen(text) + 1;
	}
	return svb_sysfs_write(root, complete, "");
}

/* Trees are told apart by what is in them: processes may have different settings. */
static uint32_t svb_sysfs_hash(const char *list, size_t size)
{
	uint32_t hash = 2166136261u;

	while (size--)
		hash = (hash ^ (uint8_t)*list++) * 16777619u;
	return hash;
}

static void svb_sysfs_create(void)
{
	char root[SVB_SYSFS_PATH / 2], *list;
	size_t size;
	int fd;

	list = svb_join() ? NULL : svb_sysfs_list(&size);
	if (!list)
		return;
	snprintf(root, sizeof(root), "%s/sys.%08x", svb_self.dir,
		 svb_sysfs_hash(list, size));
	if (!mkdir(root, 0700) || errno == EEXIST) {
		fd = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0) {
			if (!flock(fd, LOCK_EX) && svb_sysfs_make(fd, list, size))
				memcpy(svb_sysfs.root, root, sizeof(root));
			close(fd);
		}
	}
	free(list);
}

/* The character device of an existing device: something that can be found and opened. */
static const char *svb_sysfs_cdev(const char *path)
{
	char *end;
	unsigned long index = strtoul(path + sizeof(svb_sysfs_dev) - 1, &end, 10);

	if (*end || end == path + sizeof(svb_sysfs_dev) - 1 || svb_join() ||
	    index >= svb_self.settings.devices)
		return path;
	return "/dev/null";
}

/* Which port a name of a device is of, by its index in the settings; -1: none. */
static int svb_sysfs_index(const char *device, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < svb_self.settings.devices; i++)
		if (!strcmp(svb_self.settings.device[i].name, device))
			return (int)(i * SVB_MAX_PORTS + number - 1);
	return -1;
}

static void svb_sysfs_refresh(const char *path, uint32_t port, enum svb_count what)
{
	char other[SVB_SYSFS_PATH + 32], text[32];
	int fd, len;

	/* Whoever reads the file meanwhile reads the old one. */
	snprintf(other, sizeof(other), "%s.%u", path, svb_self.index);
	fd = open(other, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	len = snprintf(text, sizeof(text), "%llu\n",
		       (unsigned long long)svb_counted(port, what));
	if (write(fd, text, (size_t)len) != len || rename(other, path))
		unlink(other);
	close(fd);
}

/* Counters change: they are written when they are looked for. */
static void svb_sysfs_count(const char *name, const char *path)
{
	char device[IBV_SYSFS_NAME_MAX], counter[32];
	unsigned int number;
	int port, i;

	if (sscanf(name, "infiniband/%63[^/]/ports/%u/" SVB_SYSFS_COUNTS "/%31s", device,
		   &number, counter) != 3)
		return;
	port = svb_sysfs_index(device, number);
	for (i = 0; port >= 0 && i < SVB_COUNTS; i++)
		if (!strcmp(svb_count_names[i], counter))
			svb_sysfs_refresh(path, (uint32_t)port, (enum svb_count)i);
}

const char *svb_sysfs_path(const char *path, char buf[SVB_SYSFS_PATH])
{
	int err = errno;
	char next;

	if (!path)
		return path;
	if (!strncmp(path, svb_sysfs_dev, sizeof(svb_sysfs_dev) - 1)) {
		path = svb_sysfs_cdev(path);
		errno = err;
		return path;
	}
	if (strncmp(path, svb_sysfs_mine, sizeof(svb_sysfs_mine) - 1)) {
		path = svb_medium_path(path);
		errno = err;
		return path;
	}
	next = path[sizeof(svb_sysfs_mine) - 1];
	if (next && next != '/' && next != '_')
		return path;
	pthread_mutex_lock(&svb_sysfs.mutex);
	if (!*svb_sysfs.root)
		svb_sysfs_create();
	pthread_mutex_unlock(&svb_sysfs.mutex);
	if (!*svb_sysfs.root ||
	    snprintf(buf, SVB_SYSFS_PATH, "%s/%s", svb_sysfs.root,
		     path + sizeof(svb_sysfs_class) - 1) >= SVB_SYSFS_PATH) {
		errno = err;
		return path;
	}
	svb_sysfs_count(path + sizeof(svb_sysfs_class) - 1, buf);
	errno = err;
	return buf;
}
