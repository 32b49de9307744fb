/* SPDX-License-Identifier: BSD-2-Clause */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include "rpma_lib.h"

#define RLG_LIBRPMA_FILE "librpma.so.0"

struct rlg_librpma rlg_librpma;

/* What the functions are called in the library. */
static const struct {
	const char *name;
	size_t field;
} rlg_librpma_calls[] = {
#define RLG_LIBRPMA_CALL(name) {"rpma_" #name, offsetof(struct rlg_librpma, name)},
	RLG_LIBRPMA_CALLS(RLG_LIBRPMA_CALL)
#undef RLG_LIBRPMA_CALL
};

const char *rlg_librpma_load(void)
{
	const size_t count = sizeof(rlg_librpma_calls) / sizeof(rlg_librpma_calls[0]);
	static bool loaded;
	void *library, **field;
	size_t i;

	if (loaded)
		return NULL;
	library = dlopen(RLG_LIBRPMA_FILE, RTLD_NOW);
	if (!library)
		return dlerror();
	for (i = 0; i < count; i++) {
		field = (void **)((char *)&rlg_librpma + rlg_librpma_calls[i].field);
		*field = dlsym(library, rlg_librpma_calls[i].name);
		if (!*field)
			return dlerror();
	}
	loaded = true;
	return NULL;
}
