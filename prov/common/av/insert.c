/* SPDX-License-Identifier: BSD-2-Clause */
/* Insertion: addresses into the table, and the result of each to where fi_av(3) says. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "internal.h"

int crn_av_insert_check(struct crn_av *av, size_t count, const fi_addr_t *fi_addr,
			uint64_t flags, const void *context)
{
	if (flags & FI_AV_USER_ID)
		return -FI_EOPNOTSUPP;
	/* "Providers are free to ignore FI_MORE." */
	if (flags & ~(FI_MORE | FI_SYNC_ERR))
		return -FI_EBADFLAGS;
	if (av->async && !av->eq)
		return -FI_ENOEQ;
	/* "This flag applies to synchronous insertions only", and gives an array. */
	if ((flags & FI_SYNC_ERR) && (av->async || !context))
		return -FI_EINVAL;
	/* Only an index can be guessed. The result is an int. */
	if ((count && !fi_addr && av->type != FI_AV_TABLE) || count > INT_MAX)
		return -FI_EINVAL;
	return 0;
}

/* Returns how many were inserted; each of the others has an error. */
static int av_insert_all(struct crn_av *av, struct crn_av_item *items, size_t count,
			 fi_addr_t *places)
{
	int done = 0;
	size_t i;

	crn_lock(&av->lock);
	for (i = 0; i < count; i++) {
		places[i] = FI_ADDR_NOTAVAIL;
		if (!items[i].err)
			items[i].err = -crn_av_table_add(av, &items[i].addr, &places[i]);
		done += !items[i].err;
	}
	crn_unlock(&av->lock);
	return done;
}

static void av_undo(struct crn_av *av, fi_addr_t *places, size_t count)
{
	size_t i;

	crn_lock(&av->lock);
	for (i = 0; i < count; i++) {
		crn_av_table_del(av, places[i]);
		places[i] = FI_ADDR_NOTAVAIL;
	}
	crn_unlock(&av->lock);
}

/* "one EQ error entry generated for each failed address insertion, followed by one
 * non-error event" */
static int av_prepare(struct crn_av *av, struct crn_list *batch,
		      const struct crn_av_item *items, size_t count, int done,
		      void *context)
{
	const struct fi_eq_entry entry = {.fid = &av->fid.fid,
					  .context = context,
					  .data = (uint64_t)done};
	struct fi_eq_err_entry err = {.fid = &av->fid.fid, .context = context};
	int ret = 0;
	size_t i;

	for (i = 0; !ret && i < count; i++) {
		if (!items[i].err)
			continue;
		err.data = i;
		err.err = items[i].err;
		err.prov_errno = -items[i].err;
		ret = crn_eq_prepare_err(batch, &err);
	}
	return ret ? ret
		   : crn_eq_prepare(batch, FI_AV_COMPLETE, &av->fid.fid, &entry,
				    sizeof(entry));
}

/* All events, or none and a code. */
static int av_report(struct crn_av *av, const struct crn_av_item *items, size_t count,
		     int done, void *context)
{
	struct crn_list batch;
	int ret;

	crn_list_init(&batch);
	ret = av_prepare(av, &batch, items, count, done, context);
	if (!ret)
		ret = crn_eq_insert_batch(av->eq, &batch);
	crn_eq_drop_batch(&batch);
	return ret;
}

int crn_av_insert_items(struct crn_av *av, struct crn_av_item *items, size_t count,
			fi_addr_t *fi_addr, uint64_t flags, void *context)
{
	fi_addr_t *places = fi_addr;
	size_t i;
	int ret;

	if (!places)
		places = calloc(CRN_MAX(count, (size_t)1), sizeof(*places));
	if (!places)
		return -FI_ENOMEM;
	ret = av_insert_all(av, items, count, places);
	if (av->async) {
		ret = av_report(av, items, count, ret, context);
		if (ret) /* then nothing was initiated */
			av_undo(av, places, count);
	}
	for (i = 0; (flags & FI_SYNC_ERR) && i < count; i++)
		((int *)context)[i] = items[i].err;
	if (places != fi_addr)
		free(places);
	return ret;
}

/* Where the end of an element is not known, what follows it is not an address either. */
static void av_items_of_array(const struct crn_av *av, struct crn_av_item *items,
			      size_t count, const char *at)
{
	size_t i, len;

	for (i = 0; i < count; i++) {
		len = av->form->len(at);
		if (av->form->valid(at, len))
			memcpy(&items[i].addr, at, len);
		else
			items[i].err = FI_EINVAL;
		at += len;
	}
}

int crn_av_insert(struct fid_av *fid, const void *addr, size_t count, fi_addr_t *fi_addr,
		  uint64_t flags, void *context)
{
	struct crn_av *av = crn_container_of(fid, struct crn_av, fid);
	struct crn_av_item *items;
	int ret = crn_av_insert_check(av, count, fi_addr, flags, context);

	if (ret)
		return ret;
	if (count && !addr)
		return -FI_EINVAL;
	items = calloc(CRN_MAX(count, (size_t)1), sizeof(*items));
	if (!items)
		return -FI_ENOMEM;
	av_items_of_array(av, items, count, addr);
	ret = crn_av_insert_items(av, items, count, fi_addr, flags, context);
	free(items);
	return ret;
}
