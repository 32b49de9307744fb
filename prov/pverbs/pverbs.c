/* SPDX-License-Identifier: BSD-2-Clause */
/* What the user may set in the environment, with the defaults: fi_pverbs(7). */
#include <cairn/param.h>
#include "pverbs.h"

struct pvb_params pvb_params;

static const char *const pvb_fence_words[] = {[PVB_FENCE_DEVICE] = "device",
					      [PVB_FENCE_WAIT] = "wait",
					      [PVB_FENCE_AUTO] = "auto",
					      NULL};
static const char *const pvb_durable_words[] = {[PVB_DURABLE_OFF] = "off",
						[PVB_DURABLE_ON] = "on",
						[PVB_DURABLE_AUTO] = "auto",
						NULL};
static const char *const pvb_multicast_words[] = {
	[PVB_MULTICAST_UDP] = "udp", [PVB_MULTICAST_IPOIB] = "ipoib", NULL};
static const char *const pvb_link_words[] = {[PVB_LINK_NONE] = "none",
					     [PVB_LINK_DRAFT] = "draft",
					     [PVB_LINK_RFC] = "rfc",
					     NULL};
static const char *const pvb_method_words[] = {"auto", "message", NULL};

static const struct crn_param pvb_param_table[] = {
	CRN_PARAM_STRING("device", &pvb_params.device, "all",
			 "Comma-separated names of the verbs devices to use"),
	CRN_PARAM_SIZE(
		"tx_size", &pvb_params.tx_size, 256, 1, 65536,
		"Operations in flight per endpoint when the program names no size"),
	CRN_PARAM_SIZE("rx_size", &pvb_params.rx_size, 256, 1, 65536,
		       "Posted receives per endpoint when the program names no size"),
	CRN_PARAM_SIZE("inject_size", &pvb_params.inject_size, 256, 0, PVB_INJECT_LIMIT,
		       "Bytes fi_inject takes when the program names no size"),
	CRN_PARAM_INT("resolve_timeout", &pvb_params.resolve_timeout, 2000, 1, 600000,
		      "Milliseconds rdma_cm may take for an address, and for a route"),
	/* rdma_rxe takes 7 as "retry for ever". */
	CRN_PARAM_INT("retry_count", &pvb_params.retry_count, 6, 0, 7,
		      "Times the device repeats a packet that nobody acknowledges"),
	CRN_PARAM_INT("rnr_retry_count", &pvb_params.rnr_retry_count, 7, 0, 7,
		      "Times the device repeats a send while the peer has no receive "
		      "posted; 7 is without end"),
	CRN_PARAM_INT(
		"close_timeout", &pvb_params.close_timeout, 2000, 1, 600000,
		"Milliseconds fi_close waits for the device to return what is in flight"),
	CRN_PARAM_INT("gid_index", &pvb_params.gid_index, -1, -1, 65535,
		      "Only addresses whose GID has this index on their port; -1: any"),
	CRN_PARAM_INT("pkey", &pvb_params.pkey, 0, 0, 0xffff,
		      "Only addresses in this InfiniBand partition; 0: any"),
	CRN_PARAM_INT("roce_version", &pvb_params.roce_version, 0, 0, 2,
		      "Connections over another version of RoCE fail; 0: any"),
	CRN_PARAM_INT("traffic_class", &pvb_params.traffic_class, -1, -1, 255,
		      "Traffic class where the program names no DSCP; -1: the system's"),
	CRN_PARAM_INT("ack_timeout", &pvb_params.ack_timeout, -1, -1, 31,
		      "The device waits 4.096 us * 2^n for an acknowledgement; 0: for "
		      "ever, -1: as the system has it"),
	CRN_PARAM_INT("rnr_timer", &pvb_params.rnr_timer, -1, -1, 31,
		      "Code of the time a peer is asked to wait when no receive is "
		      "posted; -1: as the system has it"),
	CRN_PARAM_INT("path_mtu", &pvb_params.path_mtu, 0, 0, 4096,
		      "Bytes of a packet's payload at most, the same on both sides; 0: "
		      "as the path has it"),
	CRN_PARAM_INT("keepalive", &pvb_params.keepalive, 0, 0, 86400000,
		      "Milliseconds of silence after which a peer is asked whether it is "
		      "there; 0: never"),
	CRN_PARAM_INT("fork_safe", &pvb_params.fork_safe, 0, 0, 1,
		      "1: a child of fork does not inherit registered memory, on kernels "
		      "that do not copy it"),
	CRN_PARAM_WORD("multicast", &pvb_params.multicast, PVB_MULTICAST_UDP,
		       pvb_multicast_words,
		       "Multicast groups that an IP address stands for on InfiniBand: "
		       "rdma_cm's for udp, or those of IPoIB"),
	CRN_PARAM_WORD("link", &pvb_params.link, PVB_LINK_NONE, pvb_link_words,
		       "IPoIB link whose multicast groups IP addresses stand for on "
		       "InfiniBand: as the draft or as RFC 4391 has it"),
	CRN_PARAM_INT("link_copy", &pvb_params.link_copy, 0, 0, 1,
		      "1: a copy of what is sent to a group of the IPoIB link goes to "
		      "its routers"),
	CRN_PARAM_INT("link_mtu", &pvb_params.link_mtu, 0, 0, 4096,
		      "MTU of the IPoIB link that a router advertises, in bytes; 0: that "
		      "of its groups"),
	CRN_PARAM_INT("join_timeout", &pvb_params.join_timeout, 20000, 1, 600000,
		      "Milliseconds that joining a multicast group may take"),
	CRN_PARAM_SIZE("qkey", &pvb_params.qkey, 0, 0, UINT32_MAX,
		       "Q_Key of datagram endpoints, such as 0x11111111; 0: rdma_cm's "
		       "with FI_MULTICAST, else that of the verbs provider"),
	CRN_PARAM_WORD("fence", &pvb_params.fence, PVB_FENCE_AUTO, pvb_fence_words,
		       "How FI_FENCE and WAR and SAR order are kept: by the device, by "
		       "waiting for reads and atomics before something is posted, or "
		       "auto, which waits on rdma_rxe"),
	/* Of durable operations. */
	CRN_PARAM_WORD(
		"durable", &pvb_params.durable, PVB_DURABLE_AUTO, pvb_durable_words,
		"Connections on which a target's processor can make writes durable: on, "
		"off, or auto, for programs that ask for FI_RMA_PMEM"),
	CRN_PARAM_WORD("commit_method", &pvb_params.force_message, 0, pvb_method_words,
		       "How writes become durable: auto, as is best for the target, or "
		       "message, by the target's processor always"),
	CRN_PARAM_INT(
		"commit_timeout", &pvb_params.commit_timeout, 10000, 1, 86400000,
		"Milliseconds a target's processor may take to make a write durable"),
	CRN_PARAM_STRING(
		"pmem_config", &pvb_params.pmem_config, "none",
		"File that declares what this machine's persistent memory is like"),
	CRN_PARAM_STRING("persistence", &pvb_params.persistence,
			 "what sysfs says, else dmp",
			 "What a power failure spares: dmp (memory modules), mhp "
			 "(processor caches as well) or wsp (the whole system)"),
	CRN_PARAM_STRING(
		"ddio", &pvb_params.ddio, "on",
		"Whether data from adapters goes to the processor's cache: on or off"),
};

void pvb_params_read(void)
{
	crn_params_read(&pvb_prov, pvb_param_table, CRN_COUNT(pvb_param_table));
}
