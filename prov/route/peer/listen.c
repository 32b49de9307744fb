/* SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <rdma/fi_errno.h>
#include "inside.h"

void listener_event(struct fi_eq_cm_entry *entry, size_t len);

static void request_name(struct rte_request *request)
{
	const struct fi_info *info = request->info;

	if (info->dest_addr && info->dest_addrlen <= sizeof(request->address))
		memcpy(&request->address, info->dest_addr, info->dest_addrlen);
}

static void request_free(struct rte_request *request)
{
	fi_freeinfo(request->info);
	free(request);
}

void rte_request_reject(struct rte_request *request)
{
	fi_reject(request->listener->pep, request->info->handle, NULL, 0);
	request_free(request);
}

static void request_answer(struct rte_request *request, uint8_t flag)
{
	const struct rte_port *port = request->listener->port;
	struct rte_preamble preamble = port_preamble(port, port->attr.self.role);
	uint8_t bytes[RTE_PREAMBLE_LEN];

	preamble.flags |= flag;
	rte_preamble_pack(&preamble, bytes);
	fi_reject(request->listener->pep, request->info->handle, bytes, sizeof(bytes));
	request_free(request);
}

void rte_request_full(struct rte_request *request)
{
	request_answer(request, RTE_PREAMBLE_FULL);
}

bool rte_request_denied(struct rte_request *request)
{
	const struct rte_port *port = request->listener->port;

	if (!auth_hopeless(port, auth_flags(port), &request->preamble, &request->address))
		return false;
	request_answer(request, RTE_PREAMBLE_DENIED);
	return true;
}

/* Somebody asks. Only who knows the protocol is heard of. */
void listener_event(struct fi_eq_cm_entry *entry, size_t len)
{
	struct rte_listener *listener = entry->fid->context;
	struct rte_request *request = calloc(1, sizeof(*request));
	char text[CRN_ADDR_STRLEN];
	enum rte_bad bad;

	if (!request) {
		fi_reject(listener->pep, entry->info->handle, NULL, 0);
		fi_freeinfo(entry->info);
		return;
	}
	request->listener = listener;
	request->info = entry->info;
	request_name(request);
	bad = rte_preamble_parse(&request->preamble, entry->data, len - sizeof(*entry));
	if (bad == RTE_OK) {
		memcpy(request->said, entry->data, RTE_PREAMBLE_LEN);
		listener->request(request, listener->context);
		return;
	}
	port_log(listener->port, "%s is refused: its preamble: %s; compare versions",
		 crn_addr_str(&request->address.sa, text), rte_bad_text(bad));
	rte_request_reject(request);
}

static struct fi_info *listener_info(const struct rte_net *net,
				     const struct sockaddr *addr)
{
	struct fi_info *info = fi_dupinfo(net->info);

	if (!info || !addr)
		return info;
	free(info->src_addr);
	info->src_addr = crn_addr_dup(addr);
	info->src_addrlen = crn_addr_len(addr);
	info->addr_format = crn_addr_format(addr);
	if (info->src_addr)
		return info;
	fi_freeinfo(info);
	return NULL;
}

static int listener_open(struct rte_listener *listener, struct fi_info *info)
{
	struct rte_port *port = listener->port;
	int ret = fi_passive_ep(port->net->fabric, info, &listener->pep, listener);

	if (ret)
		return ret;
	ret = fi_pep_bind(listener->pep, &port->eq->fid, 0);
	if (!ret)
		ret = fi_listen(listener->pep);
	if (ret)
		fi_close(&listener->pep->fid);
	else
		listener_hurry(listener);
	return ret;
}

int rte_listen(struct rte_port *port, const struct sockaddr *addr,
	       void (*request)(struct rte_request *request, void *context), void *context,
	       struct rte_listener **out)
{
	struct rte_listener *listener = calloc(1, sizeof(*listener));
	struct fi_info *info = listener_info(port->net, addr);
	int ret = -FI_ENOMEM;

	if (listener && info) {
		listener->kind = INSIDE_LISTENER;
		listener->port = port;
		listener->request = request;
		listener->context = context;
		ret = listener_open(listener, info);
	}
	fi_freeinfo(info);
	if (ret) {
		free(listener);
		return ret;
	}
	*out = listener;
	return 0;
}

int rte_listener_name(struct rte_listener *listener, union crn_addr *addr)
{
	size_t len = sizeof(*addr);

	return fi_getname(&listener->pep->fid, addr, &len);
}

void rte_listener_close(struct rte_listener *listener)
{
	fi_close(&listener->pep->fid);
	free(listener);
}
