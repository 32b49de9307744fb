/* SPDX-License-Identifier: BSD-2-Clause */
#include <math.h>
#include <stdio.h>

#include "report.h"
#include "run.h"

#define REFUSED "no fi_rpcping there, or it has another client"
#define REFUSED_FOREIGN "no RPC over RDMA there"

static int client_open(struct png_end *end)
{
	const struct png_options *options = end->options;
	const struct lnk_rpc wish = {
		.calls = options->depth,
		.grant = options->credits,
		.receives = 3 * (size_t)options->depth + 2,
		.entries = 8 * (size_t)options->depth + 64,
	};
	int ret;

	end->link.refused = options->foreign ? REFUSED_FOREIGN : REFUSED;
	snprintf(end->link.peer, sizeof(end->link.peer), "%s, port %s", options->host,
		 options->port);
	ret = lnk_rpc_open(&end->link, &wish, options->provider, options->host,
			   options->port, 0);
	if (!ret)
		ret = lnk_rpc_endpoint(&end->link, end->link.info, &wish, &end->limits);
	if (!ret)
		ret = lnk_connect(&end->link, options->timeout);
	if (!ret)
		ret = lnk_rpc_limits(&end->link, &end->limits);
	/* What goes inline is agreed on now. */
	return ret ? ret : png_end_prepare(end);
}

/* The peer says what it is, and what it grants, before anything is measured. */
static int client_start(struct png_end *end)
{
	struct ping_started started = {0};
	int ret;

	if (end->options->foreign)
		return png_request(end, RPM_PROC_NULL, NULL, NULL, NULL, NULL);
	ret = png_request(end, PNG_START, (xdrproc_t)xdr_ping_start, &end->plan,
			  (xdrproc_t)xdr_ping_started, &started);
	if (ret || !started.memory)
		return ret;
	return lnk_fail(&end->link, -FI_ENOMEM,
			"%s gives a client %u MiB: --depth and --size are too large",
			end->link.peer, started.memory);
}

static int client_measure(struct png_end *end)
{
	const uint64_t most = isfinite(end->options->seconds)
				      ? (uint64_t)(end->options->seconds * 1e9)
				      : UINT64_MAX;
	const uint64_t begin = lnk_now();
	uint64_t left = end->options->count;
	int ret = 0;

	while (ret >= 0 && left && !png_stops && lnk_now() - begin < most) {
		while (left && (ret = png_ping(end)) > 0)
			left--;
		if (ret >= 0)
			ret = png_turn(end);
	}
	/* Those that are outstanding count. */
	while (!ret && end->outstanding && png_stops < 2)
		ret = png_turn(end);
	return ret;
}

static int client_run(struct png_end *end, struct png_report *report)
{
	int ret, last;

	ret = client_start(end);
	if (ret)
		return ret;
	png_catch();
	report->begun = true;
	ret = client_measure(end);
	report->out = png_figures(end);
	last = lnk_rpc_limits(&end->link, &end->limits);
	if (ret || last || !end->plan.both || end->outstanding)
		return ret ? ret : last;
	ret = png_request(end, PNG_END, NULL, NULL, (xdrproc_t)xdr_ping_figures,
			  &report->in);
	report->answered = !ret;
	return ret;
}

int png_client(const struct png_options *options)
{
	static struct png_end end;
	struct png_report report = {.end = &end};
	int ret;

	end.options = options;
	end.plan = (struct ping_start){
		.size = options->size,
		.reply_size = options->reply_size,
		.depth = options->depth,
		.both = options->both,
	};
	end.calls = true;
	end.serves = options->both;
	ret = client_open(&end);
	if (!ret)
		ret = client_run(&end, &report);
	if (ret)
		report.error = end.link.why;
	if (!png_report(&report))
		ret = -FI_EIO;
	if (report.error)
		fprintf(stderr, "fi_rpcping: %s\n", end.link.why);
	lnk_hang_up(&end.link);
	png_end_release(&end);
	lnk_close(&end.link);
	return ret || !report.out.count;
}
