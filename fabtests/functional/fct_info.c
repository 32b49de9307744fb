/* SPDX-License-Identifier: BSD-2-Clause */
/* Asking the provider for an endpoint, and addresses. */
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>

#include "fct_fabric.h"

/* Offered only to providers that give nothing to hints without mode bits. */
#define FCT_FALLBACK_MODE (FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA)

static int set_source(struct fi_info *hints, const char *src)
{
	struct addrinfo ask = {.ai_socktype = SOCK_STREAM}, *ai;
	int ret = getaddrinfo(src, NULL, &ask, &ai);

	if (ret) {
		fprintf(stderr, "address %s: %s\n", src, gai_strerror(ret));
		return -FI_EINVAL;
	}
	hints->src_addr = malloc(ai->ai_addrlen);
	if (hints->src_addr) {
		memcpy(hints->src_addr, ai->ai_addr, ai->ai_addrlen);
		hints->src_addrlen = ai->ai_addrlen;
		hints->addr_format =
			ai->ai_family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR_IN;
	}
	freeaddrinfo(ai);
	return hints->src_addr ? 0 : -FI_ENOMEM;
}

static int set_names(struct fi_info *hints, const struct fct_opts *o)
{
	if (o->prov && !(hints->fabric_attr->prov_name = strdup(o->prov)))
		return -FI_ENOMEM;
	if (o->fabric && !(hints->fabric_attr->name = strdup(o->fabric)))
		return -FI_ENOMEM;
	if (o->domain && !(hints->domain_attr->name = strdup(o->domain)))
		return -FI_ENOMEM;
	return 0;
}

static enum fi_ep_type ep_type(void)
{
	return fct.prog->ep_type ? (enum fi_ep_type)fct.prog->ep_type : FI_EP_MSG;
}

struct fi_info *fct_hints(const struct fct_setup *s)
{
	struct fi_info *hints = fi_allocinfo();

	if (!hints)
		return NULL;
	hints->caps = s->caps ? s->caps : FI_MSG;
	hints->mode = s->mode | fct.extra_mode;
	hints->ep_attr->type = ep_type();
	hints->ep_attr->msg_prefix_size = s->prefix;
	hints->domain_attr->mr_mode = FCT_MR_MODE & ~s->without_mr_mode;
	hints->domain_attr->threading = s->threading;
	hints->domain_attr->cq_data_size = s->cq_data_size;
	hints->domain_attr->data_progress = s->data_progress;
	hints->tx_attr->op_flags = s->tx_op_flags;
	hints->rx_attr->op_flags = s->rx_op_flags;
	hints->tx_attr->msg_order = s->msg_order;
	hints->rx_attr->msg_order = s->msg_order;
	hints->tx_attr->size = s->tx_size;
	hints->rx_attr->size = s->rx_size;
	if (s->shared_rx)
		hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT;
	if (set_names(hints, &fct.opts)) {
		fi_freeinfo(hints);
		return NULL;
	}
	return hints;
}

static int getinfo(const struct fct_setup *s, const char *node, const char *service,
		   struct fi_info **info)
{
	struct fi_info *hints = fct_hints(s);
	int ret = 0;

	if (!hints)
		return -FI_ENOMEM;
	if (node) {
		if (fct.opts.src)
			ret = set_source(hints, fct.opts.src);
		if (!ret)
			ret = fi_getinfo(FCT_API, node, service, 0, hints, info);
	} else {
		if (!service)
			service = fct.opts.port ? fct.opts.port : "0";
		ret = fi_getinfo(FCT_API, fct.opts.src, service, FI_SOURCE, hints, info);
	}
	fi_freeinfo(hints);
	return ret;
}

int fct_getinfo(const struct fct_setup *s, const char *node, const char *service,
		struct fi_info **info)
{
	uint64_t before = fct.extra_mode;
	int ret;

	*info = NULL;
	ret = getinfo(s, node, service, info);
	if (ret != -FI_ENODATA || fct.extra_mode)
		return ret;
	fct.extra_mode = FCT_FALLBACK_MODE;
	/* The programs of datagrams have room for a prefix. */
	if (ep_type() == FI_EP_DGRAM)
		fct.extra_mode |= FI_MSG_PREFIX;
	ret = getinfo(s, node, service, info);
	fct.extra_mode = before;
	return ret;
}

int fct_probe(void)
{
	const char *addr = fct.opts.src ? fct.opts.src : fct.opts.self;
	const char *prov = fct.opts.prov ? fct.opts.prov : "any provider";
	struct fct_setup s = {.caps = FI_MSG};
	struct fi_info *info = NULL;
	enum fi_ep_type type;
	int ret;

	ret = fct_getinfo(&s, NULL, "0", &info);
	if (ret) {
		type = ep_type();
		printf("not ok: %s: %s offers no %s endpoint on %s: %s\n",
		       fct_role_name(), prov, fi_tostr(&type, FI_TYPE_EP_TYPE),
		       addr ? addr : "any address", fi_strerror(-ret));
		fflush(stdout);
		return -1;
	}
	fct_note("provider %s %u.%u, domain %s", info->fabric_attr->prov_name,
		 FI_MAJOR(info->fabric_attr->prov_version),
		 FI_MINOR(info->fabric_attr->prov_version), info->domain_attr->name);
	fi_freeinfo(info);
	return 0;
}

int fct_agree(int ret)
{
	int32_t mine = ret, theirs = -1;

	if (fct_exchange("start", &mine, &theirs, sizeof(mine))) {
		printf("not ok: %s: %s\n", fct_role_name(), fct.why);
		return -1;
	}
	return mine || theirs ? -1 : 0;
}

uint16_t fct_addr_port(const void *addr)
{
	const struct sockaddr *sa = addr;

	if (sa->sa_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)addr)->sin_port);
	if (sa->sa_family == AF_INET6)
		return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
	return 0;
}

int fct_addr_text(const void *addr, char *node, size_t node_len, char *service,
		  size_t service_len, bool *wildcard)
{
	const struct sockaddr *sa = addr;
	socklen_t len;

	switch (sa->sa_family) {
	case AF_INET:
		len = sizeof(struct sockaddr_in);
		*wildcard =
			((const struct sockaddr_in *)addr)->sin_addr.s_addr == INADDR_ANY;
		break;
	case AF_INET6:
		len = sizeof(struct sockaddr_in6);
		*wildcard = IN6_IS_ADDR_UNSPECIFIED(
			&((const struct sockaddr_in6 *)addr)->sin6_addr);
		break;
	default:
		return -FI_EOPNOTSUPP;
	}
	if (getnameinfo(sa, len, node, (socklen_t)node_len, service,
			(socklen_t)service_len, NI_NUMERICHOST | NI_NUMERICSERV))
		return -FI_EINVAL;
	return 0;
}
