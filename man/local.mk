# Man pages are written in Markdown, NAME.SECTION.md; pandoc makes them.
MAN_MD = \
	man/fi_cairn.7.md \
	man/fi_cairn_rpc.3.md \
	man/fi_ibmc.1.md \
	man/fi_nfsget.1.md \
	man/fi_pmem.1.md \
	man/fi_pverbs.7.md \
	man/fi_remotelog.1.md \
	man/fi_route.7.md \
	man/fi_routectl.1.md \
	man/fi_router.8.md \
	man/fi_rpcping.1.md \
	man/fi_rpcrdma.7.md \
	man/rdmavm.1.md \
	man/simverbs.1.md
EXTRA_DIST += man/local.mk $(MAN_MD)
if MAN
nodist_man_MANS = man/fi_cairn.7 man/fi_cairn_rpc.3 man/fi_ibmc.1 man/fi_nfsget.1 man/fi_pmem.1 man/fi_pverbs.7 man/fi_remotelog.1 man/fi_route.7 man/fi_routectl.1 man/fi_router.8 man/fi_rpcping.1 man/fi_rpcrdma.7 man/rdmavm.1 man/simverbs.1
CLEANFILES += $(nodist_man_MANS)
endif

PANDOC_MAN = $(MKDIR_P) man && $(PANDOC) --standalone --from markdown-smart --to man \
	--variable=footer:'cairn $(PACKAGE_VERSION)'
man/fi_cairn.7: man/fi_cairn.7.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_cairn.7.md
man/fi_cairn_rpc.3: man/fi_cairn_rpc.3.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_cairn_rpc.3.md
man/fi_ibmc.1: man/fi_ibmc.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_ibmc.1.md
man/fi_nfsget.1: man/fi_nfsget.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_nfsget.1.md
man/fi_pmem.1: man/fi_pmem.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_pmem.1.md
man/fi_pverbs.7: man/fi_pverbs.7.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_pverbs.7.md
man/fi_remotelog.1: man/fi_remotelog.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_remotelog.1.md
man/fi_route.7: man/fi_route.7.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_route.7.md
man/fi_routectl.1: man/fi_routectl.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_routectl.1.md
man/fi_router.8: man/fi_router.8.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_router.8.md
man/fi_rpcping.1: man/fi_rpcping.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_rpcping.1.md
man/fi_rpcrdma.7: man/fi_rpcrdma.7.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/fi_rpcrdma.7.md
man/rdmavm.1: man/rdmavm.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/rdmavm.1.md
man/simverbs.1: man/simverbs.1.md
	$(AM_V_GEN)$(PANDOC_MAN) --output $@ $(srcdir)/man/simverbs.1.md
