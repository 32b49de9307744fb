/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From a device number to the nvdimm region it lies in. In sysfs a device is a folder
 * below what it belongs to, so the region is one of the folders above: the one that has a
 * file "persistence_domain" (Documentation/ABI/testing/sysfs-bus-nvdimm of Linux). A
 * device mapper target is made of what its folder "slaves" links to.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include "device/device.h"
#include "wire/wire.h"
#include "detect.h"

/* Device mapper targets upon each other, and parts of one, that are followed. */
#define PVB_REGION_DEPTH 8
#define PVB_REGION_SLAVES 64

/* A folder of that kind with a number behind it: "virtio3". */
static bool pvb_region_numbered(const char *name, const char *kind)
{
	const size_t len = strlen(kind);

	if (strncmp(name, kind, len) != 0 || !isdigit((unsigned char)name[len]))
		return false;
	for (name += len; isdigit((unsigned char)*name); name++)
		;
	return *name == '\0' || *name == '/';
}

static bool pvb_region_virtio(const char *path)
{
	const char *at;

	for (at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		if (pvb_region_numbered(at + 1, "virtio"))
			return true;
	}
	return false;
}

/* The words of persistence_domain; an empty line says that it is not known. */
static void pvb_region_domain(struct pvb_region *region)
{
	if (!strcmp(region->reported, "cpu_cache")) {
		region->domain_known = true;
		region->domain = PVB_MHP;
	} else if (!strcmp(region->reported, "memory_controller")) {
		region->domain_known = true;
		region->domain = PVB_DMP;
	}
}

/* path, below the root and absolute, is cut until it is that of a region. */
static bool pvb_region_above(const struct pvb_host *host, char path[PATH_MAX],
			     struct pvb_region *region)
{
	char file[PATH_MAX];

	for (; *path; *strrchr(path, '/') = '\0') {
		if (snprintf(file, sizeof(file), "%s/persistence_domain", path) >=
			    (int)sizeof(file) ||
		    !pvb_host_exists(host, file))
			continue;
		*region = (struct pvb_region){.virtio = pvb_region_virtio(path)};
		snprintf(region->name, sizeof(region->name), "%.31s",
			 strrchr(path, '/') + 1);
		pvb_host_line(host, file, region->reported, sizeof(region->reported));
		pvb_region_domain(region);
		return true;
	}
	return false;
}

static bool pvb_region_walk(const struct pvb_host *host, const char *path,
			    unsigned int depth, struct pvb_region *region);

static void pvb_region_weakest(struct pvb_region *region, const struct pvb_region *other)
{
	region->virtio |= other->virtio;
	if (other->domain < region->domain ||
	    (other->domain == region->domain && !other->domain_known)) {
		const bool virtio = region->virtio;

		*region = *other;
		region->virtio = virtio;
	}
}

/* Every part has to be persistent memory. */
static bool pvb_region_slaves(const struct pvb_host *host, const char *path,
			      unsigned int depth, struct pvb_region *region)
{
	char name[PATH_MAX], full[PATH_MAX];
	struct pvb_region part;
	struct dirent *entry;
	unsigned int parts = 0;
	bool ok = true;
	DIR *dir;

	if (depth == PVB_REGION_DEPTH || snprintf(full, sizeof(full), "%s%s/slaves",
						  host->root, path) >= (int)sizeof(full))
		return false;
	dir = opendir(full);
	while (dir && ok && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		ok = parts < PVB_REGION_SLAVES &&
		     snprintf(name, sizeof(name), "%s/slaves/%s", path, entry->d_name) <
			     (int)sizeof(name) &&
		     pvb_region_walk(host, name, depth + 1, &part);
		if (ok && parts++)
			pvb_region_weakest(region, &part);
		else if (ok)
			*region = part;
	}
	if (dir)
		closedir(dir);
	return ok && parts;
}

static bool pvb_region_walk(const struct pvb_host *host, const char *path,
			    unsigned int depth, struct pvb_region *region)
{
	char resolved[PATH_MAX], above[PATH_MAX];

	if (!pvb_host_resolve(host, path, resolved))
		return false;
	memcpy(above, resolved, sizeof(above));
	return pvb_region_above(host, above, region) ||
	       pvb_region_slaves(host, resolved, depth, region);
}

bool pvb_region_of(const struct pvb_host *host, bool block, unsigned int major,
		   unsigned int minor, struct pvb_region *region)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/%s/%u:%u", block ? "block" : "char", major,
		 minor);
	return pvb_region_walk(host, path, 0, region);
}

void pvb_region_found(const struct pvb_region *region, const char *kind,
		      struct pvb_found *found)
{
	*found = (struct pvb_found){
		.persistent = !region->virtio,
		.refused = region->virtio,
		.kind = region->virtio
				? "virtio-pmem, where only msync makes data durable"
				: kind,
		.domain_known = region->domain_known,
		.domain = region->domain,
	};
	memcpy(found->reported, region->reported, sizeof(found->reported));
}
