# SPDX-License-Identifier: BSD-2-Clause
# Programs to copy from: built and tested, installed as sources.
noinst_PROGRAMS += %D%/datagram_feed %D%/replicated_log
dist_doc_DATA += %D%/datagram_feed.c %D%/replicated_log.c
EXTRA_DIST += %D%/route/README.md %D%/route/fig1 %D%/route/fig2 %D%/route/fig3 \
	%D%/route/one-machine %D%/test-replicated_log %D%/test-datagram_feed
