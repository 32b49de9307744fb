/* SPDX-License-Identifier: BSD-2-Clause */
/* One client after another. */
#include <inttypes.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "link/loopback.h"
#include "run.h"

#define WAIT_MS 100

struct server {
	struct png_end end;
	struct lnk_rpc wish;
	struct png_receive first; /* before the client has said what comes */
	uint8_t first_bytes[4 * PNG_CONTROL];
	struct png_receive *last; /* PNG_END, which is answered when all is over */
	bool calling;
};

static struct server server;

/* ---- what the client asks for ---- */

static bool fits(const struct png_end *end, const struct ping_start *start)
{
	const uint64_t each = start->size + (uint64_t)start->reply_size + 4096;

	return start->size <= PNG_MOST_SIZE && start->reply_size <= PNG_MOST_SIZE &&
	       start->depth && start->depth <= PNG_MOST_CALLS &&
	       (2 * start->depth + 1) * each <= PNG_MEMORY;
}

static unsigned int start(struct png_end *end, XDR *args, XDR *results)
{
	struct ping_started started = {0};
	struct ping_start plan;

	if (end->memory || !xdr_ping_start(args, &plan))
		return GARBAGE_ARGS;
	if (fits(end, &plan)) {
		end->plan = plan;
		end->serves = true;
		end->calls = plan.both;
		if (png_end_prepare(end))
			return SYSTEM_ERR;
		server.calling = plan.both;
		printf("%s: Calls of %" PRIu32 " bytes, Replies of %" PRIu32
		       " bytes, %" PRIu32 " outstanding%s\n",
		       end->link.peer, plan.size, plan.reply_size, plan.depth,
		       plan.both ? ", both ways" : "");
		fflush(stdout);
		/* Receives of the right size are posted instead. */
		server.first.bytes = NULL;
	} else {
		started.memory = PNG_MEMORY >> 20;
	}
	return xdr_ping_started(results, &started) ? SUCCESS : SYSTEM_ERR;
}

static unsigned int serve(struct png_end *end, uint32_t proc, XDR *args,
			  struct png_receive *receive, XDR *results)
{
	if (proc == PNG_START)
		return start(end, args, results);
	if (proc != PNG_END)
		return PROC_UNAVAIL;
	if (!end->memory || server.last)
		return GARBAGE_ARGS;
	server.calling = false;
	server.last = receive;
	return UINT_MAX;
}

/* The answer to PNG_END, when no Call is outstanding. */
static int finish(struct png_end *end)
{
	struct ping_figures figures = png_figures(end);
	struct png_receive *last = server.last;
	uint32_t xid;
	bool call;
	XDR xdr;

	rpm_peek(last->bytes, end->room, &xid, &call);
	if (!png_answer_head(last, &xdr, xid, SUCCESS) ||
	    !xdr_ping_figures(&xdr, &figures))
		return lnk_fail(&end->link, -FI_EOTHER, "a Reply cannot be encoded");
	last->head_len = xdr_getpos(&xdr);
	server.last = NULL;
	return png_answer_send(end, last);
}

/* ---- a client ---- */

static void name_client(struct png_end *end, const struct fi_info *info)
{
	char *peer = end->link.peer;

	if (!info->dest_addr ||
	    getnameinfo(info->dest_addr, (socklen_t)info->dest_addrlen, peer,
			sizeof(end->link.peer), NULL, 0, NI_NUMERICHOST) != 0)
		strcpy(peer, "a client");
}

static int client_turn(struct png_end *end)
{
	int ret;

	while (server.calling && (ret = png_ping(end)))
		if (ret < 0)
			return ret;
	if (server.last && !end->outstanding) {
		ret = finish(end);
		if (ret)
			return ret;
	}
	return png_turn(end);
}

static int client_serve(struct png_end *end, struct fi_info *info)
{
	int ret;

	ret = lnk_rpc_endpoint(&end->link, info, &server.wish, &end->limits);
	if (!ret)
		ret = png_receive(end, &server.first);
	if (!ret)
		ret = lnk_accept(&end->link, end->options->timeout);
	if (!ret)
		ret = lnk_rpc_limits(&end->link, &end->limits);
	end->moved = lnk_now();
	while (!ret && !png_stops)
		ret = client_turn(end);
	return ret;
}

/* What is the link's lives on; the rest is another client's. */
static void client_reset(struct png_end *end)
{
	const struct lnk link = end->link;
	const struct png_options *options = end->options;

	memset(end, 0, sizeof(*end));
	*end = (struct png_end){.link = link,
				.options = options,
				.serve = serve,
				.room = sizeof(server.first_bytes)};
	*end->link.peer = '\0';
	server.first = (struct png_receive){.bytes = server.first_bytes};
	server.last = NULL;
	server.calling = false;
}

static void client(struct png_end *end, struct fi_info *info)
{
	int ret;

	client_reset(end);
	name_client(end, info);
	ret = client_serve(end, info);
	fi_freeinfo(info);
	if (ret == -FI_ESHUTDOWN && end->memory)
		printf("%s has ended\n", end->link.peer);
	else if (ret)
		fprintf(stderr, "fi_rpcping: %s\n", end->link.why);
	fflush(stdout);
	lnk_hang_up(&end->link);
	png_end_release(end);
	*end->link.peer = '\0';
}

/* ---- the server ---- */

static int server_open(struct png_end *end)
{
	const struct png_options *options = end->options;
	const size_t credits = options->credits;
	unsigned int port;
	int ret;

	server.wish = (struct lnk_rpc){
		.calls = credits,
		.grant = credits,
		/* Whatever depth a client has. */
		.receives = 3 * PNG_MOST_CALLS + 2,
		.entries = 8 * PNG_MOST_CALLS,
	};
	ret = lnk_rpc_open(&end->link, &server.wish, options->provider, options->bind,
			   options->port, FI_SOURCE);
	if (!ret)
		ret = lnk_listen(&end->link);
	if (!ret)
		ret = lnk_port(&end->link, &port);
	if (ret)
		return ret;
	if (lnk_name_is_loopback(end->link.info, options->bind))
		fprintf(stderr,
			"fi_rpcping: %s is a loopback address in /etc/hosts: no other "
			"host can connect; --bind an address of the network\n",
			options->bind);
	printf("listening on port %u\n", port);
	fflush(stdout);
	return 0;
}

int png_server(const struct png_options *options)
{
	struct png_end *end = &server.end;
	struct fi_eq_cm_entry entry;
	bool served = false;
	int ret;

	end->options = options;
	end->link.refused = "the client has gone";
	ret = server_open(end);
	png_catch();
	while (!ret && !png_stops && !(served && options->one)) {
		ret = lnk_event(&end->link, FI_CONNREQ, WAIT_MS, &entry);
		lnk_rpc_show(&end->link);
		if (!ret) {
			client(end, entry.info);
			served = true;
		} else if (ret == -FI_EAGAIN) {
			ret = 0;
		}
	}
	if (ret)
		fprintf(stderr, "fi_rpcping: %s\n", end->link.why);
	lnk_close(&end->link);
	return ret != 0;
}
