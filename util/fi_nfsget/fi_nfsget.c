/* SPDX-License-Identifier: BSD-2-Clause */
/* fi_nfsget(1): fetches a file from an NFSv4.1 server over RDMA. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fetch.h"
#include "options.h"

/* What one run has open; memory is freed after the session, which may write to it. */
struct run {
	struct nfg_options options;
	struct nfc_where where;
	struct nfc_session session;
	struct nfc_file file;
	struct nfg_part part;
	struct nfg_progress progress;
	char source[PATH_MAX + 300]; /* PATH at HOST and PORT */
	uint8_t *memory;
};

static bool failed(struct run *run)
{
	fprintf(stderr, "fi_nfsget: %s\n", run->session.conn.link.why);
	return false;
}

/* Bytes of two versions may have been mixed: they are not taken for one. */
static bool unchanged(struct run *run)
{
	struct nfc_attrs attrs;

	if (nfc_attrs(&run->session, &run->file.handle, &attrs))
		return failed(run);
	if (attrs.change == run->file.attrs.change && attrs.size == run->file.attrs.size)
		return true;
	fprintf(stderr, "fi_nfsget: %s changed while it was fetched: fetch it again\n",
		run->options.path);
	return false;
}

static bool fetch(struct run *run)
{
	const uint32_t block = nfg_block(&run->session, run->options.block);

	run->memory = malloc((size_t)block * run->session.count);
	if (!run->memory) {
		fprintf(stderr, "fi_nfsget: no memory for %u reads of %u bytes\n",
			run->session.count, block);
		return false;
	}
	nfg_progress_begin(&run->progress, run->options.file, run->file.attrs.size,
			   run->part.have);
	return nfg_fetch(&run->session, &run->file, &run->part, &run->progress,
			 run->memory, block) &&
	       unchanged(run);
}

static bool fetch_open(struct run *run)
{
	const struct nfg_options *options = &run->options;
	bool done;

	snprintf(run->source, sizeof(run->source), "%s:%s%s", options->host,
		 options->port, options->path);
	if (nfc_open(&run->session, run->options.path,
		     OPEN4_SHARE_ACCESS_READ | OPEN4_SHARE_ACCESS_WANT_NO_DELEG,
		     &run->file))
		return failed(run);
	done = nfg_part_open(&run->part, run->options.file, run->source, &run->file.attrs,
			     run->options.goes_on) &&
	       fetch(run);
	/* The bytes are here, whatever becomes of the server's state. READs may be
	 * outstanding: no slot is used before its Reply (RFC 8881 section 2.10.6.1). */
	if (!nfc_settle(&run->session))
		nfc_close(&run->session, &run->file);
	return done && nfg_part_finish(&run->part);
}

int main(int argc, char **argv)
{
	static struct run run;
	bool done;

	nfg_options(argc, argv, &run.options);
	run.where = (struct nfc_where){
		.provider = run.options.provider,
		.host = run.options.host,
		.port = run.options.port,
		.timeout = run.options.timeout,
		.slots = run.options.reads,
	};
	run.part.fd = -1;
	lnk_rpc_catch();
	run.progress.quiet = run.options.quiet;
	run.progress.bar =
		!run.options.quiet && (run.options.progress || isatty(STDERR_FILENO));
	if (nfc_session_open(&run.session, &run.where))
		done = failed(&run);
	else
		done = fetch_open(&run);
	nfc_session_close(&run.session);
	nfg_part_close(&run.part);
	free(run.memory);
	if (done)
		nfg_progress_end(&run.progress);
	return done ? 0 : 1;
}
