# A layer to copy from: built and tested, installed by nobody.
noinst_LTLIBRARIES += examples/layer/libexample_layer-fi.la
examples_layer_libexample_layer_fi_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
examples_layer_libexample_layer_fi_la_LIBADD = prov/common/libcairn-common.la $(LIBFABRIC_LIBS)
examples_layer_libexample_layer_fi_la_SOURCES = \
	examples/layer/cq.c \
	examples/layer/domain.c \
	examples/layer/ep.c \
	examples/layer/fabric.c \
	examples/layer/info.c \
	examples/layer/init.c \
	examples/layer/layer.h \
	examples/layer/pep.c
# What is not installed is a convenience library to libtool, unless it has a place to go. libfabric unloads
# providers when a process ends; the program's threads go on until it has.
examples_layer_libexample_layer_fi_la_LDFLAGS = \
	$(AM_LDFLAGS) -rpath /nowhere -module -avoid-version -shared \
	-export-symbols-regex '^fi_prov_ini$$' -Wl,-z,nodelete
EXTRA_DIST += examples/layer/local.mk examples/layer/rooms
