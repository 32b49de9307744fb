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
#include <cairn/pmem.h>

/* Device mapper targets upon each other, and parts of one, that are followed. */
#define REGION_DEPTH 8
#define REGION_SLAVES 64

/* A folder of that kind with a number behind it: "virtio3". */
static bool region_numbered(const char *name, const char *kind)
{
	const size_t len = strlen(kind);

	if (strncmp(name, kind, len) != 0 || !isdigit((unsigned char)name[len]))
		return false;
	for (name += len; isdigit((unsigned char)*name); name++)
		;
	return *name == '\0' || *name == '/';
}

static bool region_virtio(const char *path)
{
	const char *at;

	for (at = strchr(path, '/'); at; at = strchr(at + 1, '/')) {
		if (region_numbered(at + 1, "virtio"))
			return true;
	}
	return false;
}

/* The words of persistence_domain; an empty line says that it is not known. */
static void region_domain(struct crn_pmem_region *region)
{
	if (!strcmp(region->reported, "cpu_cache")) {
		region->domain_known = true;
		region->domain = CRN_MHP;
	} else if (!strcmp(region->reported, "memory_controller")) {
		region->domain_known = true;
		region->domain = CRN_DMP;
	}
}

/* path, below the root and absolute, is cut until it is that of a region. */
static bool region_above(const struct crn_host *host, char path[PATH_MAX],
			 struct crn_pmem_region *region)
{
	char file[PATH_MAX];

	for (; *path; *strrchr(path, '/') = '\0') {
		if (snprintf(file, sizeof(file), "%s/persistence_domain", path) >=
			    (int)sizeof(file) ||
		    !crn_host_exists(host, file))
			continue;
		*region = (struct crn_pmem_region){.virtio = region_virtio(path)};
		snprintf(region->name, sizeof(region->name), "%.31s",
			 strrchr(path, '/') + 1);
		crn_host_line(host, file, region->reported, sizeof(region->reported));
		region_domain(region);
		return true;
	}
	return false;
}

static bool region_walk(const struct crn_host *host, const char *path, unsigned int depth,
			struct crn_pmem_region *region);

static void region_weakest(struct crn_pmem_region *region,
			   const struct crn_pmem_region *other)
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
static bool region_slaves(const struct crn_host *host, const char *path,
			  unsigned int depth, struct crn_pmem_region *region)
{
	char name[PATH_MAX], full[PATH_MAX];
	struct crn_pmem_region part;
	struct dirent *entry;
	unsigned int parts = 0;
	bool ok = true;
	DIR *dir;

	if (depth == REGION_DEPTH || snprintf(full, sizeof(full), "%s%s/slaves",
					      host->root, path) >= (int)sizeof(full))
		return false;
	dir = opendir(full);
	while (dir && ok && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		ok = parts < REGION_SLAVES &&
		     snprintf(name, sizeof(name), "%s/slaves/%s", path, entry->d_name) <
			     (int)sizeof(name) &&
		     region_walk(host, name, depth + 1, &part);
		if (ok && parts++)
			region_weakest(region, &part);
		else if (ok)
			*region = part;
	}
	if (dir)
		closedir(dir);
	return ok && parts;
}

static bool region_walk(const struct crn_host *host, const char *path, unsigned int depth,
			struct crn_pmem_region *region)
{
	char resolved[PATH_MAX], above[PATH_MAX];

	if (!crn_host_resolve(host, path, resolved))
		return false;
	memcpy(above, resolved, sizeof(above));
	return region_above(host, above, region) ||
	       region_slaves(host, resolved, depth, region);
}

bool crn_pmem_region_of(const struct crn_host *host, bool block, unsigned int major,
			unsigned int minor, struct crn_pmem_region *region)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/%s/%u:%u", block ? "block" : "char", major,
		 minor);
	return region_walk(host, path, 0, region);
}

void crn_pmem_region_found(const struct crn_pmem_region *region, const char *kind,
			   struct crn_pmem_found *found)
{
	*found = (struct crn_pmem_found){
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
