# SPDX-License-Identifier: BSD-2-Clause
# The provider, as objects of a convenience library for the daemon, fi_routectl and unit tests.
%D%/%.o %D%/%.lo: private AM_CPPFLAGS += -I$(srcdir)/%D%
noinst_LIBRARIES += %D%/libroute-objs.a
%C%_libroute_objs_a_SOURCES = %D%/addr/addr.h %D%/addr/pack.c %D%/addr/place.c %D%/auth/auth.h \
	%D%/auth/heard.c %D%/auth/proof.c %D%/auth/ring.c %D%/auto.c %D%/auto.h %D%/cm/calls.c \
	%D%/cm/cm.h %D%/cm/conn.c %D%/cm/hop.c %D%/cm/incoming.c %D%/cm/news.c %D%/cm/say.c \
	%D%/cm/trust.c %D%/config/config.c %D%/config/config.h %D%/config/errors.c \
	%D%/config/errors.h %D%/config/items.c %D%/config/join.c %D%/config/keyfile.c \
	%D%/config/keys.c %D%/config/keys.h %D%/config/listen.c %D%/config/names.c %D%/config/nearest.c \
	%D%/config/read.c %D%/config/read.h %D%/config/rules.c %D%/config/set.c %D%/config/set.h \
	%D%/config/types.c %D%/config/uri.c %D%/config/uri.h %D%/config/value.c %D%/config/value.h \
	%D%/cq.c %D%/device.c %D%/device.h %D%/domain.c %D%/ep/ep.c %D%/ep/ep.h %D%/ep/msg.c \
	%D%/ep/opt.c %D%/ep/rma.c %D%/eq.c %D%/fabric.c %D%/flow/credit.c %D%/flow/flow.h \
	%D%/info.c %D%/info.h %D%/init.c %D%/keyring.c %D%/keyring.h %D%/keys/keys.c \
	%D%/keys/keys.h %D%/mr.c %D%/objects.h %D%/peer/arena.c %D%/peer/auth.c %D%/peer/elastic.c \
	%D%/peer/fault.c %D%/peer/fault.h %D%/peer/grant.c %D%/peer/hello.c %D%/peer/host.c \
	%D%/peer/hurry.c %D%/peer/inside.h %D%/peer/life.c %D%/peer/listen.c %D%/peer/mute.c %D%/peer/net.c \
	%D%/peer/peer.c %D%/peer/peer.h %D%/peer/port.c %D%/peer/receive.c %D%/peer/rules.c \
	%D%/peer/send.c %D%/peer/socket.c %D%/pep.c %D%/route.h %D%/topo/graph.c %D%/topo/graph.h \
	%D%/topo/label.c %D%/topo/label.h %D%/topo/lsa.c %D%/topo/lsdb.c %D%/topo/map.c \
	%D%/topo/map.h %D%/topo/metric.c %D%/topo/missing.c %D%/topo/paths.c %D%/topo/redirect.c \
	%D%/topo/search.c %D%/topo/search.h %D%/topo/spf.c %D%/topo/topo.h %D%/wire/bad.c \
	%D%/wire/conn.c %D%/wire/data.c %D%/wire/digest.c %D%/wire/fields.h %D%/wire/flow.c \
	%D%/wire/hello.c %D%/wire/join.c %D%/wire/layout.h %D%/wire/links.c %D%/wire/links.h \
	%D%/wire/lsa.c %D%/wire/messages.h %D%/wire/mr.c %D%/wire/packet.c %D%/wire/preamble.c \
	%D%/wire/tlv.c %D%/wire/wire.h %D%/xfer/ack.c %D%/xfer/arrive.c %D%/xfer/direct.c \
	%D%/xfer/direct.h %D%/xfer/iov.c %D%/xfer/lend.c %D%/xfer/op.h %D%/xfer/ops.h \
	%D%/xfer/place.c %D%/xfer/post.c %D%/xfer/quick.c %D%/xfer/read.c %D%/xfer/recv.c \
	%D%/xfer/send.c %D%/xfer/serve.c %D%/xfer/tx.c %D%/xfer/vc.c %D%/xfer/vc.h %D%/xfer/xfer.h
# The graph, the configuration and the codec need no peer and no cryptography; the rest of a router
# needs no persistent memory.
route_config_libs = %D%/libroute-objs.a $(common_libs) $(INIH_LIBS)
route_peer_libs = $(route_config_libs) $(CRYPTO_LIBS)
route_libs = %D%/libroute-objs.a $(pmem_libs) $(CRYPTO_LIBS)

# The exchange of link states, for the daemon and unit tests.
noinst_LIBRARIES += %D%/sync/libsync.a
%C%_sync_libsync_a_SOURCES = %D%/sync/adjacency.c %D%/sync/flood.c %D%/sync/own.c %D%/sync/reach.c \
	%D%/sync/request.c %D%/sync/state.h %D%/sync/sync.c %D%/sync/sync.h

provider_LTLIBRARIES += %D%/libroute-fi.la
%C%_libroute_fi_la_SOURCES =
%C%_libroute_fi_la_DEPENDENCIES = $(filter %.a,$(route_libs))
%C%_libroute_fi_la_LDFLAGS = $(provider_ldflags) $(call all_of,%D%/libroute-objs.a,$(route_libs))
EXTRA_DIST += %D%/rooms
