/* SPDX-License-Identifier: BSD-2-Clause */
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rpma.h"
#include "rpma_lib.h"

/* Ports that are tried for one that is free. */
#define RLG_RPMA_PORTS 64u
/* Of a region and of a peer's configuration: two lengths of one byte go before them. */
#define RLG_RPMA_DESCRIPTORS 196u

struct rlg_rpma {
	int timeout; /* s */
	struct rpma_peer *peer;
	struct rpma_mr_local *mr;
	struct rpma_conn *conn;
	bool connected;

	struct rpma_ep *ep; /* server */

	struct rpma_mr_remote *log; /* client */
	struct rpma_cq *cq;
	uint8_t *out;
};

static int rlg_rpma_failed(const char *what, int ret)
{
	if (!ret)
		return 0;
	rlg_say("librpma, %s: %s", what, rlg_librpma.err_2str(ret));
	return -FI_EOTHER;
}

/* What went wrong below librpma it tells only its log. */
static void rlg_rpma_log(enum rpma_log_level level, const char *file_name,
			 const int line_no, const char *function_name,
			 const char *message_format, ...)
{
	char text[256];
	va_list args;

	va_start(args, message_format);
	vsnprintf(text, sizeof(text), message_format, args);
	va_end(args);
	text[strcspn(text, "\n")] = '\0';
	rlg_say("librpma, %s: %s", function_name ? function_name : "its log", text);
}

static void rlg_rpma_speaks(bool on)
{
	rlg_librpma.log_set_function(rlg_rpma_log);
	rlg_librpma.log_set_threshold(RPMA_LOG_THRESHOLD,
				      on ? RPMA_LOG_LEVEL_ERROR : RPMA_LOG_DISABLED);
}

const char *rlg_rpma_missing(void)
{
	return rlg_librpma_load();
}

static int rlg_rpma_new(struct rlg_rpma **rpma, const char *address,
			enum rpma_util_ibv_context_type type, int timeout)
{
	struct ibv_context *device;
	int ret;

	*rpma = calloc(1, sizeof(**rpma));
	if (!*rpma)
		return rlg_failed("librpma", -FI_ENOMEM);
	(*rpma)->timeout = timeout;
	rlg_rpma_speaks(true);
	ret = rlg_librpma.utils_get_ibv_context(address, type, &device);
	if (!ret)
		ret = rlg_librpma.peer_new(device, &(*rpma)->peer);
	return rlg_rpma_failed("the device", ret);
}

/* Waits until there is something to be read, timeout seconds at most. */
static int rlg_rpma_wait(const struct rlg_rpma *rpma, int fd, const char *what)
{
	struct pollfd ready = {.fd = fd, .events = POLLIN};

	if (poll(&ready, 1, rpma->timeout * 1000) > 0)
		return 0;
	rlg_say("librpma, %s: nothing has come for %d s", what, rpma->timeout);
	return -FI_ETIMEDOUT;
}

static int rlg_rpma_event(struct rlg_rpma *rpma, enum rpma_conn_event wanted)
{
	const char *what = rlg_librpma.utils_conn_event_2str(wanted);
	enum rpma_conn_event event = RPMA_CONN_UNDEFINED;
	int fd, ret;

	ret = rlg_rpma_failed(what, rlg_librpma.conn_get_event_fd(rpma->conn, &fd));
	if (!ret)
		ret = rlg_rpma_wait(rpma, fd, what);
	if (!ret)
		ret = rlg_rpma_failed(what,
				      rlg_librpma.conn_next_event(rpma->conn, &event));
	if (ret || event == wanted)
		return ret;
	rlg_say("librpma: %s instead of %s", rlg_librpma.utils_conn_event_2str(event),
		what);
	return -FI_ESHUTDOWN;
}

/* --- server */

int rlg_rpma_listen(struct rlg_rpma **rpma, const struct rlg_medium *medium,
		    const char *address, unsigned int *port, int timeout)
{
	const int usage = RPMA_MR_USAGE_WRITE_DST | RPMA_MR_USAGE_READ_SRC |
			  RPMA_MR_USAGE_FLUSH_TYPE_PERSISTENT;
	const unsigned int first = *port;
	char text[8];
	int ret;

	ret = rlg_rpma_new(rpma, address, RPMA_UTIL_IBV_CONTEXT_LOCAL, timeout);
	if (!ret)
		ret = rlg_rpma_failed("the log",
				      rlg_librpma.mr_reg((*rpma)->peer, medium->at,
							 medium->size, usage,
							 &(*rpma)->mr));
	if (ret)
		return ret;
	for (ret = 1; ret && *port < first + RLG_RPMA_PORTS && *port < 65536; ++*port) {
		rlg_rpma_speaks(*port + 1 == first + RLG_RPMA_PORTS);
		snprintf(text, sizeof(text), "%u", *port);
		ret = rlg_librpma.ep_listen((*rpma)->peer, address, text, &(*rpma)->ep);
	}
	--*port;
	rlg_rpma_speaks(true);
	return rlg_rpma_failed("listening", ret);
}

/*
 * Of the log, and of this peer: that what arrives can be made durable from afar (direct
 * write to persistent memory) is what librpma wants declared; nobody here can know it.
 */
static int rlg_rpma_describe(const struct rlg_rpma *rpma, uint8_t *to, uint8_t *len)
{
	struct rpma_peer_cfg *config = NULL;
	size_t log = 0, peer = 0;
	int ret;

	ret = rlg_librpma.peer_cfg_new(&config);
	if (!ret)
		ret = rlg_librpma.peer_cfg_set_direct_write_to_pmem(config, true);
	if (!ret)
		ret = rlg_librpma.mr_get_descriptor_size(rpma->mr, &log);
	if (!ret)
		ret = rlg_librpma.peer_cfg_get_descriptor_size(config, &peer);
	if (!ret && 2 + log + peer > RLG_RPMA_DESCRIPTORS)
		ret = RPMA_E_INVAL;
	if (!ret)
		ret = rlg_librpma.mr_get_descriptor(rpma->mr, to + 2);
	if (!ret)
		ret = rlg_librpma.peer_cfg_get_descriptor(config, to + 2 + log);
	rlg_librpma.peer_cfg_delete(&config);
	to[0] = (uint8_t)log;
	to[1] = (uint8_t)peer;
	*len = (uint8_t)(2 + log + peer);
	return rlg_rpma_failed("describing the log", ret);
}

int rlg_rpma_accept(struct rlg_rpma *rpma)
{
	uint8_t descriptors[RLG_RPMA_DESCRIPTORS];
	struct rpma_conn_private_data data = {.ptr = descriptors};
	struct rpma_conn_req *request;
	int fd, ret;

	ret = rlg_rpma_describe(rpma, descriptors, &data.len);
	if (!ret)
		ret = rlg_rpma_failed("listening", rlg_librpma.ep_get_fd(rpma->ep, &fd));
	if (!ret)
		ret = rlg_rpma_wait(rpma, fd, "a connection");
	if (ret)
		return ret;
	ret = rlg_librpma.ep_next_conn_req(rpma->ep, NULL, &request);
	if (!ret)
		ret = rlg_librpma.conn_req_connect(&request, &data, &rpma->conn);
	ret = rlg_rpma_failed("a connection", ret);
	if (!ret)
		ret = rlg_rpma_event(rpma, RPMA_CONN_ESTABLISHED);
	rpma->connected = !ret;
	return ret;
}

/* --- client */

static int rlg_rpma_dial(struct rlg_rpma *rpma, const struct rlg_options *options,
			 unsigned int port)
{
	const uint32_t queue = RLG_ACTS * options->depth + 16;
	struct rpma_conn_req *request;
	struct rpma_conn_cfg *config;
	char text[8];
	int ret;

	snprintf(text, sizeof(text), "%u", port);
	ret = rlg_librpma.conn_cfg_new(&config);
	if (ret)
		return ret;
	ret = rlg_librpma.conn_cfg_set_sq_size(config, queue);
	if (!ret)
		ret = rlg_librpma.conn_cfg_set_cq_size(config, queue);
	if (!ret)
		ret = rlg_librpma.conn_req_new(rpma->peer, options->address, text, config,
					       &request);
	if (!ret)
		ret = rlg_librpma.conn_req_connect(&request, NULL, &rpma->conn);
	rlg_librpma.conn_cfg_delete(&config);
	return ret;
}

/* What rlg_rpma_describe wrote, and maybe padding. */
static int rlg_rpma_described(struct rlg_rpma *rpma)
{
	struct rpma_conn_private_data data = {0};
	struct rpma_peer_cfg *config = NULL;
	const uint8_t *bytes;
	int ret;

	ret = rlg_librpma.conn_get_private_data(rpma->conn, &data);
	bytes = data.ptr;
	if (!ret && (data.len < 2 || 2 + bytes[0] + bytes[1] > data.len))
		ret = RPMA_E_INVAL;
	if (!ret)
		ret = rlg_librpma.mr_remote_from_descriptor(bytes + 2, bytes[0],
							    &rpma->log);
	if (!ret)
		ret = rlg_librpma.peer_cfg_from_descriptor(bytes + 2 + bytes[0], bytes[1],
							   &config);
	if (!ret)
		ret = rlg_librpma.conn_apply_remote_peer_cfg(rpma->conn, config);
	rlg_librpma.peer_cfg_delete(&config);
	if (!ret)
		ret = rlg_librpma.conn_get_cq(rpma->conn, &rpma->cq);
	return rlg_rpma_failed("the server's log", ret);
}

int rlg_rpma_connect(struct rlg_rpma **rpma, const struct rlg_options *options,
		     unsigned int port, uint8_t *out, size_t size)
{
	int ret;

	ret = rlg_rpma_new(rpma, options->address, RPMA_UTIL_IBV_CONTEXT_REMOTE,
			   options->timeout);
	if (ret)
		return ret;
	(*rpma)->out = out;
	ret = rlg_librpma.mr_reg((*rpma)->peer, out, size, RPMA_MR_USAGE_WRITE_SRC,
				 &(*rpma)->mr);
	if (!ret)
		ret = rlg_rpma_dial(*rpma, options, port);
	ret = rlg_rpma_failed("connecting", ret);
	if (!ret)
		ret = rlg_rpma_event(*rpma, RPMA_CONN_ESTABLISHED);
	(*rpma)->connected = !ret;
	return ret ? ret : rlg_rpma_described(*rpma);
}

int rlg_rpma_post(struct rlg_rpma *rpma, uint8_t act, const uint8_t *from, size_t len,
		  size_t at, void *context)
{
	const int flags =
		act & RLG_WAIT ? RPMA_F_COMPLETION_ALWAYS : RPMA_F_COMPLETION_ON_ERROR;
	int ret;

	switch (act & RLG_ACT) {
	case RLG_ACT_READ_RECORD:
	case RLG_ACT_READ_TAIL:
		ret = rlg_librpma.flush(rpma->conn, rpma->log, at, len,
					RPMA_FLUSH_TYPE_PERSISTENT, flags, context);
		break;
	case RLG_ACT_TAIL:
		ret = rlg_librpma.atomic_write(rpma->conn, rpma->log, at,
					       (const char *)from, flags, context);
		break;
	default:
		ret = rlg_librpma.write(rpma->conn, rpma->log, at, rpma->mr,
					(size_t)(from - rpma->out), len, flags, context);
		break;
	}
	return rlg_rpma_failed("an append", ret);
}

int rlg_rpma_poll(struct rlg_rpma *rpma, void **context)
{
	struct ibv_wc wc;
	const int ret = rlg_librpma.cq_get_wc(rpma->cq, 1, &wc, NULL);

	if (ret == RPMA_E_NO_COMPLETION)
		return 0;
	if (ret)
		return rlg_rpma_failed("completions", ret);
	if (wc.status == IBV_WC_SUCCESS) {
		*context = (void *)(uintptr_t)wc.wr_id;
		return 1;
	}
	if (wc.status == IBV_WC_WR_FLUSH_ERR)
		return -FI_ESHUTDOWN;
	rlg_say("librpma: an operation failed: %s", ibv_wc_status_str(wc.status));
	return wc.status == IBV_WC_RETRY_EXC_ERR ? -FI_ESHUTDOWN : -FI_EIO;
}

/* --- both */

void rlg_rpma_close(struct rlg_rpma *rpma)
{
	if (!rpma)
		return;
	/* The other side may have gone: whatever it answers, this is the end. */
	rlg_rpma_speaks(false);
	if (rpma->connected)
		rlg_librpma.conn_disconnect(rpma->conn);
	if (rpma->log)
		rlg_librpma.mr_remote_delete(&rpma->log);
	if (rpma->conn)
		rlg_librpma.conn_delete(&rpma->conn);
	if (rpma->ep)
		rlg_librpma.ep_shutdown(&rpma->ep);
	if (rpma->mr)
		rlg_librpma.mr_dereg(&rpma->mr);
	if (rpma->peer)
		rlg_librpma.peer_delete(&rpma->peer);
	free(rpma);
}
