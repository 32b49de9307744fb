/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which driver an RDMA device has. An adapter's says so in sysfs (device/driver). The
 * software devices of Linux have no such link, or that of the network card they run upon
 * (siw); their names are chosen by who makes them and their descriptions may be changed
 * (rdma-ndd writes the host's name there). What always tells is the library that serves
 * the device: rdma-core has one for each driver, librxe-rdmav34.so. rdma_rxe has a file
 * "parent" besides. A device without any trace of hardware counts as software.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include "adapter.h"

#define PVB_ADAPTER_PATH "/sys/class/infiniband/%.64s/%s"

static bool pvb_adapter_line(const struct crn_host *host, const char *device,
			     const char *name, char *line, size_t size)
{
	char path[160];

	snprintf(path, sizeof(path), PVB_ADAPTER_PATH, device, name);
	return crn_host_line(host, path, line, size);
}

static bool pvb_adapter_has(const struct crn_host *host, const char *device,
			    const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), PVB_ADAPTER_PATH, device, name);
	return crn_host_exists(host, path);
}

/* Words of simverbs(1), PERSISTENT MEMORY. */
static bool pvb_adapter_simverbs(const struct crn_host *host, const char *device,
				 struct pvb_adapter *adapter)
{
	static const char *const domains[] = {"dmp", "mhp", "wsp"};
	char word[32];
	unsigned int i;

	if (!pvb_adapter_line(host, device, "simverbs/persistence_domain", word,
			      sizeof(word)))
		return false;
	adapter->simverbs = true;
	for (i = 0; i < 3; i++) {
		if (!strcmp(word, domains[i])) {
			adapter->domain_known = true;
			adapter->domain = (enum crn_persistence)i;
		}
	}
	pvb_adapter_line(host, device, "simverbs/ddio", word, sizeof(word));
	adapter->ddio = strcmp(word, "off") != 0;
	pvb_adapter_line(host, device, "simverbs/persistent_mapping", adapter->mapping,
			 sizeof(adapter->mapping));
	snprintf(adapter->driver, sizeof(adapter->driver), "simverbs");
	return true;
}

/* The driver that rdma-core's library with that file name is for. */
static bool pvb_adapter_library(const char *library, struct pvb_adapter *adapter)
{
	static const char *const software[] = {"rxe", "siw"};
	const char *name = library ? strrchr(library, '/') : NULL;
	size_t i;

	name = name ? name + 1 : library;
	if (!name || strncmp(name, "lib", 3) != 0)
		return false;
	name += 3;
	for (i = 0; i < sizeof(software) / sizeof(software[0]); i++) {
		if (!strncmp(name, software[i], 3) && name[3] == '-') {
			snprintf(adapter->driver, sizeof(adapter->driver), "%s",
				 software[i]);
			return true;
		}
	}
	return false;
}

void pvb_adapter_detect(const struct crn_host *host, const char *device,
			const char *library, struct pvb_adapter *adapter)
{
	char path[160], real[PATH_MAX];

	memset(adapter, 0, sizeof(*adapter));
	adapter->ddio = true;
	if (pvb_adapter_simverbs(host, device, adapter))
		return;
	if (pvb_adapter_library(library, adapter)) {
		adapter->software = true;
		return;
	}
	if (pvb_adapter_has(host, device, "parent")) {
		adapter->software = true;
		snprintf(adapter->driver, sizeof(adapter->driver), "rxe");
		return;
	}
	snprintf(path, sizeof(path), PVB_ADAPTER_PATH, device, "device/driver");
	if (crn_host_resolve(host, path, real))
		snprintf(adapter->driver, sizeof(adapter->driver), "%.31s",
			 strrchr(real, '/') + 1);
	adapter->software = !*adapter->driver;
}

const char *pvb_facts_library(struct ibv_context *verbs)
{
	Dl_info info;

	/* ibv_post_send calls it: the driver's own function. */
	return dladdr((void *)verbs->ops.post_send, &info) ? info.dli_fname : NULL;
}
