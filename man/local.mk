# Man pages are written in Markdown; pandoc makes them. Files in man/ are NAME.SECTION.md.
MAN_MD =
EXTRA_DIST += man/local.mk $(MAN_MD)
if MAN
man_MANS = $(MAN_MD:.md=)
CLEANFILES += $(man_MANS)
endif

SUFFIXES = .md
man/%: $(srcdir)/man/%.md
	$(AM_V_GEN)$(MKDIR_P) man && $(PANDOC) --standalone --from markdown-smart --to man \
		--variable=footer:'cairn $(PACKAGE_VERSION)' --output $@ $<
