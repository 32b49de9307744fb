/* SPDX-License-Identifier: BSD-2-Clause */
/* Every public function of the installed libibverbs is also ours. */
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include "../world.h"

/* Names in a loaded library's dynamic symbol table, called one after the other. */
static int each_symbol(struct link_map *map, void (*fn)(const char *name))
{
	const ElfW(Dyn) * dyn;
	const ElfW(Sym) *syms = NULL;
	const char *names = NULL;
	const char *end;
	int count = 0;

	for (dyn = map->l_ld; dyn->d_tag != DT_NULL; dyn++) {
		if (dyn->d_tag == DT_SYMTAB)
			syms = (const void *)dyn->d_un.d_ptr;
		if (dyn->d_tag == DT_STRTAB)
			names = (const void *)dyn->d_un.d_ptr;
	}
	/* The string table follows the symbols. */
	end = names;
	for (; syms && (const char *)syms < end; syms++)
		if (syms->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(syms->st_info) == STT_FUNC) {
			fn(names + syms->st_name);
			count++;
		}
	return count;
}

/* What only drivers call (versions IBVERBS_PRIVATE_*). */
static bool private(const char *name)
{
	return !strncmp(name, "ibv_cmd_", 8) || !strncmp(name, "verbs_", 6) ||
	       !strncmp(name, "_verbs", 6) || !strncmp(name, "__", 2) ||
	       !strcmp(name, "execute_ioctl") ||
	       !strcmp(name, "ibv_read_ibdev_sysfs_file");
}

static void expect_defined(const char *name)
{
	void *ours = dlsym(RTLD_DEFAULT, name);
	Dl_info info;

	if (private(name))
		return;
	CT_NOTE("%s", name);
	CT_ASSERT_NE(ours, NULL);
	CT_ASSERT_NE(dladdr(ours, &info), 0);
	CT_EXPECT_EQ(strstr(info.dli_fname, "libibverbs"), NULL);
}

CT_TEST(symbols, every_public_one_is_defined)
{
	struct link_map *map;
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		CT_SKIP("libibverbs is not installed");
	CT_ASSERT_EQ(dlinfo(lib, RTLD_DI_LINKMAP, &map), 0);
	CT_EXPECT_GT(each_symbol(map, expect_defined), 50);
	dlclose(lib);
}
