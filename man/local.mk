# SPDX-License-Identifier: BSD-2-Clause
# Man pages are written in Markdown, NAME.SECTION.md; pandoc makes them.
man_pages = %D%/fi_cairn.7 %D%/fi_cairn_rpc.3 %D%/fi_ibmc.1 %D%/fi_nfsget.1 %D%/fi_pmem.1 \
	%D%/fi_pverbs.7 %D%/fi_remotelog.1 %D%/fi_route.7 %D%/fi_routectl.1 %D%/fi_router.8 \
	%D%/fi_rpcping.1 %D%/fi_rpcrdma.7 %D%/rdmavm.1 %D%/simverbs.1
EXTRA_DIST += $(man_pages:=.md)
if MAN
nodist_man_MANS = $(man_pages)
CLEANFILES += $(man_pages)
endif
%D%/%: %D%/%.md
	$(AM_V_GEN)$(MKDIR_P) %D% && $(PANDOC) --standalone --from markdown-smart --to man \
		--variable=footer:'cairn $(PACKAGE_VERSION)' --output $@ $<
