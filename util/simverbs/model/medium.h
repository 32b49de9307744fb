/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The persistent file, and the machine that has it.
 *
 * Without a model (machine/machine.h) the file is an ordinary one. With it the file is
 * the medium: it holds what reached the persistence domain and nothing else. What
 * programs open in its place is a shadow in the directory, which holds what is visible.
 * Both, and the model's state, are mapped by the processes on the machine, those whose
 * settings name the file, and by who talks to them.
 *
 * The shadow lives as long as a process on the machine. When the last one ends everything
 * drains; what killed ones leave drains when the file is used next. In between the power
 * may fail.
 */
#ifndef SVB_MODEL_MEDIUM_H
#define SVB_MODEL_MEDIUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "choice.h"
#include "shared/shared.h"
#include "machine/machine.h"

#define SVB_MEDIUM_USERS 128u

/* The file "machine.ID": state that the processes on a machine share. */
struct svb_shared {
	uint32_t magic;
	uint32_t abi;
	struct svb_lock lock; /* of everything below; taken after a send queue's */
	uint32_t off;	      /* switched off: the power has failed, or all have left */
	struct svb_machine_config config;
	uint32_t explore;		 /* nobody makes choices but who calls model.h */
	uint64_t size;			 /* of the persistent file, bytes */
	uint64_t moved;			 /* ns: when something last happened */
	uint32_t user[SVB_MEDIUM_USERS]; /* tokens of processes on the machine; 0: none */
	char file[256];
	struct svb_picks picks;
	struct svb_machine_state state;
};

/* A machine as this process sees it. It stays mapped: other threads may be using it. */
#define SVB_MEDIUM_PAST 2u
struct svb_medium {
	uint32_t id;	 /* 0: none; SVB_MEDIUM_PAST: one that was */
	bool member;	 /* this process is on it */
	uint64_t number; /* inode of the file that is shared */
	struct svb_shared *shared;
	struct svb_machine machine;
	struct svb_chooser chooser;
	char shadow[128];
};

/* Do this process' settings ask for a model? */
static inline bool svb_medium_wanted(void)
{
	return svb_settings_modelled(&svb_self.settings);
}

/* Puts this process on the machine of its settings, if they name one: svb_self.seg is
 * there. Returns 0 or an errno, after a line on stderr. */
int svb_medium_join(void);
/* The end of this process. */
void svb_medium_leave(void);
/* The child of a fork is not on the machine until it joins. */
void svb_medium_forget(void);

/* Attaches to the machine that the process with that segment is on, if any. */
void svb_medium_meet(struct svb_seg *seg);

/* The machine with that id, attached to when it was not; NULL: cannot be. */
struct svb_medium *svb_medium_of(uint32_t id);
/* That of this process, or NULL. */
struct svb_medium *svb_medium_own(void);
/* Each that this process is attached to: 0 to where it is NULL. */
struct svb_medium *svb_medium_at(int i);

/* The path to open instead of path: the shadow's for the persistent file, else path. */
const char *svb_medium_path(const char *path);
/* The name that mappings of persistent memory have in /proc/self/maps; "": none. */
const char *svb_medium_mapping(void);

/*
 * Where in persistent memory a range of this process lies. False: not, or not all of it.
 * Reads /proc/self/maps.
 */
bool svb_medium_find(const void *addr, size_t len, uint64_t *offset);

/* The processor writes a range of this process' memory back, with a fence. A choice
 * point. False, and nothing is done: it is not persistent memory. */
bool svb_medium_flush(const void *addr, size_t len);
/* The same for all of it: fsync. */
void svb_medium_sync(void);

#endif
