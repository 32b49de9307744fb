# SPDX-License-Identifier: BSD-2-Clause
# Programs to copy from: built and tested, installed as sources.
noinst_PROGRAMS += examples/replicated_log
examples_replicated_log_SOURCES = examples/replicated_log.c
examples_replicated_log_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
examples_replicated_log_LDADD = $(LIBFABRIC_LIBS)
dist_doc_DATA += examples/replicated_log.c
noinst_PROGRAMS += examples/datagram_feed
examples_datagram_feed_SOURCES = examples/datagram_feed.c
examples_datagram_feed_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
examples_datagram_feed_LDADD = $(LIBFABRIC_LIBS)
dist_doc_DATA += examples/datagram_feed.c
EXTRA_DIST += examples/local.mk examples/route/README.md examples/route/fig1 examples/route/fig2 examples/route/fig3 examples/route/one-machine examples/test-replicated_log examples/test-datagram_feed
