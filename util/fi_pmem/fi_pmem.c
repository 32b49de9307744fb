/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_pmem(1) */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <rdma/fabric.h>
#include "fi_pmem.h"
#include "persist/persist.h"

/* What a devdax is mapped in pieces of, at most. */
#define PMEM_PIECE (1024UL << 20)
#define PMEM_ALIGN (2UL << 20)
#define PMEM_DEVICES 64

struct fi_provider *fi_prov_ini(void);

static struct pmem_device devices[PMEM_DEVICES];
static unsigned int device_count;
static unsigned int memory_count;
static struct crn_pmem_declarations *declared;

static const char legend[] =
	"Notation: W write, WI write with data, S send, AT atomic, ! fenced; F 1-byte "
	"read, FP FLUSH,\nAW ATOMIC WRITE, D atomic on the target's sequence word, M and "
	"Mb message to the target's\nprocessor, SLOT notice of what the message behind "
	"it wants, C completion, A answer. RTT: round trips.\n";

static void usage(void)
{
	printf("Usage: fi_pmem [FILE]\n"
	       "What pverbs knows of this machine's persistent memory, from where, and "
	       "how a durable\n"
	       "operation on it would be done. FILE: a devdax or a file of a DAX file "
	       "system, as mapped.\n\n"
	       "  -h, --help     this text\n"
	       "  -V, --version  which one this is\n");
}

static void device_open(struct ibv_device *ibv)
{
	struct pmem_device *device = &devices[device_count];
	struct ibv_device_attr attr;

	device->verbs = ibv_open_device(ibv);
	if (!device->verbs || ibv_query_device(device->verbs, &attr)) {
		printf("  %s cannot be opened: %s\n", ibv_get_device_name(ibv),
		       strerror(errno));
		return;
	}
	device->name = ibv_get_device_name(ibv);
	device->iwarp = ibv->transport_type != IBV_TRANSPORT_IB;
	device->atomics = !device->iwarp && attr.atomic_cap != IBV_ATOMIC_NONE;
	pvb_adapter_detect(&crn_host, device->name, pvb_facts_library(device->verbs),
			   &device->adapter);
	pvb_native_offer(device->verbs, &device->native);
	printf("  %-10s %s, %s%s; FLUSH %s, ATOMIC WRITE %s, atomics %s\n", device->name,
	       device->iwarp ? "iWARP" : "InfiniBand or RoCE",
	       *device->adapter.driver ? device->adapter.driver : "unknown driver",
	       device->adapter.software ? " (software: data goes to the cache)" : "",
	       pvb_native_access(&device->native) ? "yes" : "no",
	       device->native.atomic_write ? "yes" : "no",
	       device->atomics ? "yes" : "no");
	device_count++;
}

static void devices_open(void)
{
	struct ibv_device **list;
	int i, count = 0;

	printf("RDMA devices\n");
	list = ibv_get_device_list(&count);
	for (i = 0; list && i < count && device_count < PMEM_DEVICES; i++)
		device_open(list[i]);
	if (list)
		ibv_free_device_list(list);
	if (!device_count)
		printf("  none\n");
}

static void facts_show(const struct pmem_device *device, const struct pvb_facts *facts)
{
	const struct pvb_key_attr *attr = &facts->key_attr;

	printf("  through %s: %s (%s, %s)", device->name,
	       attr->persistent ? "persistent" : "NOT persistent",
	       crn_pmem_source_name(facts->mem.persistent_source), facts->mem.kind);
	if (!attr->persistent) {
		printf("\n");
		return;
	}
	printf(", %s (%s), DDIO %s (%s), FLUSH %s, receives %s\n",
	       crn_persistence_name(attr->domain),
	       crn_pmem_source_name(facts->mem.domain_source), attr->ddio ? "on" : "off",
	       crn_pmem_source_name(facts->ddio_source), attr->flush ? "yes" : "no",
	       facts->replay ? "replayed" : "copied");
	pmem_methods(device, facts);
}

/* Memory as it would be mapped well. */
static void memory_show(const struct pmem_memory *memory, void *arg)
{
	struct pvb_facts facts;
	unsigned int i;

	memory_count++;
	printf("%s: %s%s%s\n", memory->name, memory->found.kind,
	       *memory->found.reported ? ", persistence_domain " : "",
	       memory->found.reported);
	for (i = 0; i < device_count; i++) {
		pvb_facts_combine(&devices[i].adapter, declared, &memory->found,
				  memory->name, &facts);
		facts.key_attr.readable = true;
		facts.key_attr.flush = pvb_native_access(&devices[i].native);
		facts.key_attr.atomic_write = devices[i].native.atomic_write;
		facts_show(&devices[i], &facts);
	}
}

/* The file that simverbs says it models; every one of its devices says the same. */
static void simverbs_show(void)
{
	struct pmem_memory memory = {.found = {.kind = "simverbs' persistent file"}};

	if (!device_count || !*devices[0].adapter.mapping)
		return;
	memcpy(memory.name, devices[0].adapter.mapping, sizeof(memory.name));
	memory_show(&memory, NULL);
}

static void *file_map(const char *path, size_t *len)
{
	struct stat st;
	void *mem;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st)) {
		if (fd >= 0)
			close(fd);
		return MAP_FAILED;
	}
	*len = S_ISCHR(st.st_mode) ? PMEM_ALIGN : (size_t)st.st_size;
	if (*len > PMEM_PIECE)
		*len = PMEM_PIECE;
	mem = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED_VALIDATE | MAP_SYNC, fd,
		   0);
	if (mem == MAP_FAILED)
		mem = mmap(NULL, *len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return mem;
}

/* Does the device take FLUSH for this memory? */
static bool file_flush(const struct pmem_device *device, void *mem, size_t len)
{
	const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   (int)pvb_native_access(&device->native);
	struct ibv_pd *pd = ibv_alloc_pd(device->verbs);
	struct ibv_mr *mr = pd ? ibv_reg_mr(pd, mem, len, access) : NULL;
	const bool taken = mr;

	if (mr)
		ibv_dereg_mr(mr);
	if (pd)
		ibv_dealloc_pd(pd);
	return taken;
}

/* Without a device: what the memory is. */
static bool file_alone(void *mem, size_t len)
{
	const struct pvb_adapter none = {.ddio = true};
	struct pvb_facts facts;

	if (pvb_facts_range(&crn_host, &none, declared, (uintptr_t)mem, len, &facts))
		return false;
	printf("  %s (%s, %s)\n",
	       facts.key_attr.persistent ? "persistent" : "NOT persistent",
	       crn_pmem_source_name(facts.mem.persistent_source), facts.mem.kind);
	return facts.key_attr.persistent;
}

static bool file_through(const struct pmem_device *device, void *mem, size_t len)
{
	struct pvb_facts facts;

	if (pvb_facts_of(device->verbs, mem, len, &facts))
		return false;
	facts.key_attr.readable = true;
	if (facts.key_attr.persistent && facts.key_attr.flush)
		facts.key_attr.flush = file_flush(device, mem, len);
	facts_show(device, &facts);
	return facts.key_attr.persistent;
}

/* Exit status: is it persistent memory, however a device looks at it? */
static int file_show(const char *path)
{
	bool persistent;
	unsigned int i;
	size_t len;
	void *mem = file_map(path, &len);

	if (mem == MAP_FAILED) {
		fprintf(stderr, "fi_pmem: %s cannot be mapped: %s\n", path,
			strerror(errno));
		return 1;
	}
	printf("\n%s\n", path);
	persistent = !device_count && file_alone(mem, len);
	for (i = 0; i < device_count; i++)
		persistent |= file_through(&devices[i], mem, len);
	munmap(mem, len);
	return persistent ? 0 : 1;
}

static int host_show(void)
{
	printf("\nPersistent memory\n");
	simverbs_show();
	pmem_memories(&crn_host, declared, memory_show, NULL);
	if (!memory_count)
		printf("  none: no devdax, no file system on persistent memory, nothing "
		       "declared\n");
	return 0;
}

/* libfabric reads FI_LOG_LEVEL when it is first asked for something, and the provider
 * FI_PVERBS_* when it starts. */
static void parameters_read(void)
{
	struct fi_param *params;
	int count;

	if (!fi_getparams(&params, &count))
		fi_freeparams(params);
	fi_prov_ini();
}

static int run(const char *path)
{
	unsigned int i;
	int ret;

	parameters_read();
	if (pvb_facts_declare(&declared)) {
		fprintf(stderr, "fi_pmem: FI_PVERBS_PMEM_CONFIG cannot be used; "
				"FI_LOG_LEVEL=warn says why\n");
		return 1;
	}
	devices_open();
	ret = path ? file_show(path) : host_show();
	if (device_count)
		printf("\n%s", legend);
	for (i = 0; i < device_count; i++)
		ibv_close_device(devices[i].verbs);
	free(declared);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};

	switch (getopt_long(argc, argv, "hV", options, NULL)) {
	case 'h':
		usage();
		return 0;
	case 'V':
		printf("fi_pmem %s\n", PACKAGE_VERSION);
		return 0;
	case -1:
		break;
	default:
		return 2;
	}
	if (argc - optind > 1) {
		fprintf(stderr, "fi_pmem: one FILE at most (--help)\n");
		return 2;
	}
	return run(argv[optind]);
}
