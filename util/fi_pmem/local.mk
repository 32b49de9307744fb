# fi_pmem shows what pverbs knows of persistent memory; it is made of the provider's parts.
bin_PROGRAMS += util/fi_pmem/fi_pmem
util_fi_pmem_fi_pmem_SOURCES = \
	util/fi_pmem/fi_pmem.c \
	util/fi_pmem/fi_pmem.h \
	util/fi_pmem/memory.c \
	util/fi_pmem/methods.c
util_fi_pmem_fi_pmem_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/prov/pverbs \
	$(LIBFABRIC_CFLAGS) $(VERBS_CFLAGS)
util_fi_pmem_fi_pmem_LDADD = prov/pverbs/libpverbs-objs.la $(LIBFABRIC_LIBS) $(VERBS_LIBS)
TESTS += util/fi_pmem/test-fi_pmem.sh
EXTRA_DIST += util/fi_pmem/local.mk util/fi_pmem/test-fi_pmem.sh
