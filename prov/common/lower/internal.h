/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of crn_lower know of each other. */
#ifndef CRN_LOWER_INTERNAL_H
#define CRN_LOWER_INTERNAL_H

#include <cairn/lower.h>

/* ---- table.c: what a layer's table makes of an info ---- */

/*
 * The hints, whole: parts that are missing, or all of them, become what means no wish.
 * NULL: no memory.
 */
struct fi_info *lower_hints(const struct fi_info *hints, uint32_t version);
/* From a layer's info, or whole hints, to the lower provider's. 0 or -FI_ENODATA, after
 * a log line. */
int lower_down(const struct crn_lower_layer *layer, struct fi_info *info);
/* Whether some number is the layer's own, and lower_down leaves none, or what is needed,
 * in its place. */
bool lower_owns_numbers(const struct crn_lower_layer *layer);
/* Sets those numbers of an info for the lower provider to what it answered. */
void lower_fill_owned(const struct crn_lower_layer *layer, struct fi_info *info,
		      const struct fi_info *answer);
/* From an answer of the lower provider to the layer's. hints: the program's, whole. 0, or
 * -FI_ENODATA for an answer without what the layer needs. */
int lower_up(const struct crn_lower_layer *layer, struct fi_info *info,
	     const struct fi_info *hints);

/* ---- getinfo.c ---- */

/* An answer, or the info of a connection request, as the layer's, without prov_name; the
 * name of the fabric stays. lower_up has the rest. */
int lower_info_up(const struct crn_lower_layer *layer, struct fi_info *info,
		  const struct fi_info *hints);

/* Whether the answer has the names that were asked for: not every provider looks at them.
 */
bool lower_same_names(const struct fi_info *info, const struct fi_info *asked);

/* ---- name.c: the program's choice, in the name of a fabric ---- */

/* The lower provider's name for the fabric, inside name, which begins with lower_len
 * bytes of the lower provider that was chosen; 0: none was. */
const char *lower_name_split(const struct crn_lower_layer *layer, const char *name,
			     size_t *lower_len);
/* NULL: no memory. */
char *lower_name_join(const struct crn_lower_layer *layer, const char *lower,
		      const char *name);
/* Leaves the lower provider's name; NULL is none. */
void lower_name_strip(const struct crn_lower_layer *layer, char *name);

/* ---- choose.c: which provider it may be ---- */

#define LOWER_CHOICES 3
#define LOWER_PARAM_LEN 64

struct lower_choice {
	const struct crn_lower_layer *layer;
	bool named;			  /* in the hints: a failure is worth a warning */
	bool by_program;		  /* LOWER;NAME, or in the name of a fabric */
	char *only;			  /* the one there is; NULL: the usual ones */
	const char *names[LOWER_CHOICES]; /* in order */
	size_t count;
};

/*
 * prov_name: of the hints, or of a fabric's attributes; fabric: its name; both may be
 * NULL. asked: the layer need not be named. 0, -FI_ENOMEM, or -FI_ENODATA, after a log
 * line, but for a layer that is not asked for. lower_choice_free after 0.
 */
int lower_choose(const struct crn_lower_layer *layer, const char *prov_name,
		 const char *fabric, bool asked, struct lower_choice *choice);
void lower_choice_free(struct lower_choice *choice);

/* One of its names has the answer to this; for the log when none has. */
int lower_choice_failed(const struct lower_choice *choice);

/* FI_NAME_LOWER */
const char *lower_param(const struct crn_lower_layer *layer, char text[LOWER_PARAM_LEN]);

/* ---- ask.c: fi_getinfo inside fi_getinfo ---- */

/* A question to the lower provider; hints are its own, whole. */
struct lower_question {
	uint32_t version;
	const char *node, *service;
	uint64_t flags;
	struct fi_info *hints;
};

/* Whether this thread is in such a call of the layer's. */
bool lower_asking(const struct crn_lower_layer *layer);
/* fi_getinfo of one provider. Sets prov_name of the hints. */
int lower_ask(const struct crn_lower_layer *layer, const struct lower_question *question,
	      const char *name, struct fi_info **info);

/* ---- event.c: with the fabric's lock held ---- */

/* Hands on what there is. 0, or why the rest has to wait, or the lower provider's error.
 */
int lower_events(struct crn_lower_fabric *fabric);
/* Drops the event that is kept, if it is about this: the info of a connection request,
 * now the caller's, or NULL. */
struct fi_info *lower_events_forget(struct crn_lower_fabric *fabric,
				    const struct crn_lower_obj *obj);

/* ---- look.c: for a fabric with wait, while the lower queue is open ---- */

/* Makes the lower queue a source of fabric->wait. 0 or a negative code. */
int lower_look_add(struct crn_lower_fabric *fabric);
/* As fi_trywait(3), of the lower queue. */
int lower_look_arm(struct crn_lower_fabric *fabric);

#endif
