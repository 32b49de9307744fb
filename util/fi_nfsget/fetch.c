/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>

#include "fetch.h"

#define REST_MS 50
/* What the head of a READ's Reply may take of the session's largest reply. */
#define AROUND 512u

/* Block n of the file is read by slot n modulo the slots. */
struct fetch {
	struct nfc_session *session;
	const struct nfc_file *file;
	struct nfg_part *part;
	struct nfg_progress *progress;
	uint8_t *memory; /* block bytes for each slot */
	uint32_t block;
	uint64_t asked; /* the first byte that no READ is for */
};

struct piece {
	unsigned int slot;
	uint64_t at;
	uint32_t len;
};

static struct piece piece_at(const struct fetch *f, uint64_t first, uint64_t at)
{
	const uint64_t left = f->file->attrs.size - at;

	return (struct piece){
		.slot = (unsigned int)((at - first) / f->block % f->session->count),
		.at = at,
		.len = left < f->block ? (uint32_t)left : f->block,
	};
}

static uint8_t *buffer(const struct fetch *f, unsigned int slot)
{
	return f->memory + (size_t)slot * f->block;
}

static int start(struct fetch *f, const struct piece *p, uint32_t done)
{
	return nfc_read_start(f->session, p->slot, f->file, p->at + done,
			      buffer(f, p->slot) + done, p->len - done);
}

/* What a READ left over is read again, and later what the server cannot read now. */
static int finish(struct fetch *f, const struct piece *p)
{
	const uint64_t end =
		lnk_now_ms() + 1000u * (unsigned)f->session->conn.where->timeout;
	uint32_t done = 0, got;
	bool eof;
	int ret;

	for (;;) {
		got = 0;
		ret = nfc_read_finish(f->session, p->slot, &got, &eof);
		done += got;
		if (done == p->len || (ret && !nfc_again(ret)))
			return ret;
		if (!ret && eof)
			return lnk_fail(&f->session->conn.link, -FI_EIO,
					"the file has become shorter");
		if (!ret && !got)
			return lnk_fail(&f->session->conn.link, -FI_EIO,
					"READ at byte %llu returns none, and the file "
					"does not end there",
					(unsigned long long)(p->at + done));
		if (ret && lnk_now_ms() > end)
			return ret;
		if (ret)
			ret = nfc_conn_rest(&f->session->conn, REST_MS);
		if (!ret)
			ret = start(f, p, done);
		if (ret)
			return ret;
	}
}

static bool said(struct fetch *f)
{
	nfg_progress_clear(f->progress);
	fprintf(stderr, "fi_nfsget: %s\n", f->session->conn.link.why);
	return false;
}

static bool run(struct fetch *f)
{
	const uint64_t first = f->part->have, size = f->file->attrs.size;
	const uint64_t window = (uint64_t)f->block * f->session->count;
	struct piece p;

	for (f->asked = first; f->part->have < size;) {
		while (f->asked < size && f->asked < f->part->have + window) {
			p = piece_at(f, first, f->asked);
			if (start(f, &p, 0))
				return said(f);
			f->asked += p.len;
		}
		p = piece_at(f, first, f->part->have);
		if (finish(f, &p))
			return said(f);
		if (!nfg_part_write(f->part, buffer(f, p.slot), p.len))
			return false;
		nfg_progress_show(f->progress, f->part->have);
	}
	return true;
}

uint32_t nfg_block(const struct nfc_session *session, uint32_t wanted)
{
	const uint32_t most = session->response - AROUND;

	return wanted < most ? wanted : most;
}

bool nfg_fetch(struct nfc_session *session, const struct nfc_file *file,
	       struct nfg_part *part, struct nfg_progress *progress, uint8_t *memory,
	       uint32_t block)
{
	struct fetch f = {
		.session = session,
		.file = file,
		.part = part,
		.progress = progress,
		.memory = memory,
		.block = block,
	};

	return run(&f);
}
