/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Puts wrappers where the provider's library has the addresses of functions it calls: so
 * nobody else's calls are touched, and what a wrapper calls is exactly what the provider
 * would have called, also on a software device and under a sanitizer.
 */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fault.h"

#if __ELF_NATIVE_CLASS == 64
#define RELOC_SYM ELF64_R_SYM
#else
#define RELOC_SYM ELF32_R_SYM
#endif

/* Of the ELF relocations of data, those with a symbol and nothing added are addresses. */
static void hook_slot(const struct link_map *map, const ElfW(Rela) * rela,
		      const char *name)
{
	const long page = sysconf(_SC_PAGESIZE);
	void **slot = (void **)(map->l_addr + rela->r_offset);
	void *start = (void *)((uintptr_t)slot & ~(uintptr_t)(page - 1));
	size_t i;

	for (i = 0; i < fct_fault_row_count; i++) {
		if (strcmp(fct_fault_rows[i].name, name))
			continue;
		*fct_fault_rows[i].real = *slot;
		/* After relocation the page may have been made read-only. */
		if (!mprotect(start, (size_t)page * 2, PROT_READ | PROT_WRITE))
			*slot = fct_fault_rows[i].wrapper;
	}
}

static void hook_table(const struct link_map *map, const ElfW(Rela) * rela, size_t size,
		       const ElfW(Sym) * symbols, const char *names)
{
	const ElfW(Rela) *end = rela + size / sizeof(*rela);

	for (; rela < end; rela++) {
		if (RELOC_SYM(rela->r_info) && !rela->r_addend)
			hook_slot(map, rela,
				  names + symbols[RELOC_SYM(rela->r_info)].st_name);
	}
}

static void hook_library(const struct link_map *map)
{
	const ElfW(Rela) *lazy = NULL, *data = NULL;
	size_t lazy_size = 0, data_size = 0;
	const ElfW(Sym) *symbols = NULL;
	const char *names = NULL;
	const ElfW(Dyn) * dyn;

	for (dyn = map->l_ld; dyn->d_tag != DT_NULL; dyn++) {
		switch (dyn->d_tag) {
		case DT_JMPREL:
			lazy = (const void *)dyn->d_un.d_ptr;
			break;
		case DT_PLTRELSZ:
			lazy_size = dyn->d_un.d_val;
			break;
		case DT_RELA:
			data = (const void *)dyn->d_un.d_ptr;
			break;
		case DT_RELASZ:
			data_size = dyn->d_un.d_val;
			break;
		case DT_SYMTAB:
			symbols = (const void *)dyn->d_un.d_ptr;
			break;
		case DT_STRTAB:
			names = (const void *)dyn->d_un.d_ptr;
			break;
		default:
			break;
		}
	}
	if (!symbols || !names)
		return;
	hook_table(map, data, data_size, symbols, names);
	hook_table(map, lazy, lazy_size, symbols, names);
}

/* With RTLD_NOW no address is left to be looked up at the first call. */
static void *open_in(const char *folder, size_t len, const char *prov)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s/lib%s-fi.so", (int)len, folder, prov);
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

/* Where libfabric would look: FI_PROVIDER_PATH, and the folder beside itself. */
static void *open_library(const char *prov)
{
	const char *path = getenv("FI_PROVIDER_PATH");
	char beside[PATH_MAX];
	void *handle = NULL;
	Dl_info where;
	char *slash;
	size_t len;

	for (; path && *path && !handle; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		handle = open_in(path, len, prov);
	}
	if (handle || !dladdr((void *)(uintptr_t)fi_getinfo, &where))
		return handle;
	snprintf(beside, sizeof(beside), "%s", where.dli_fname);
	slash = strrchr(beside, '/');
	if (!slash)
		return NULL;
	snprintf(slash, sizeof(beside) - (size_t)(slash - beside), "/libfabric");
	return open_in(beside, strlen(beside), prov);
}

int fct_fault_hook(const char *prov)
{
	/* Of several, the upmost: what is under test. */
	const char *upmost = prov ? strrchr(prov, ';') : NULL;
	void *handle = prov ? open_library(upmost ? upmost + 1 : prov) : NULL;
	struct link_map *map;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return -FI_ENODATA;
	hook_library(map);
	return 0;
}
