# A layer to copy from: built and tested, installed by nobody.
EXAMPLE_LAYER_SOURCES = \
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
EXAMPLE_LAYER_LDFLAGS = \
	$(AM_LDFLAGS) -rpath /nowhere -module -avoid-version -shared \
	-export-symbols-regex '^fi_prov_ini$$' -Wl,-z,nodelete
EXAMPLE_LAYER_LIBADD = prov/common/libcairn-common.la $(LIBFABRIC_LIBS)

noinst_LTLIBRARIES += examples/layer/libexample_layer-fi.la
examples_layer_libexample_layer_fi_la_SOURCES = $(EXAMPLE_LAYER_SOURCES)
examples_layer_libexample_layer_fi_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS)
examples_layer_libexample_layer_fi_la_LDFLAGS = $(EXAMPLE_LAYER_LDFLAGS)
examples_layer_libexample_layer_fi_la_LIBADD = $(EXAMPLE_LAYER_LIBADD)

# A second one, so that the tests can put a layer on a layer.
noinst_LTLIBRARIES += examples/layer/libexample_top-fi.la
examples_layer_libexample_top_fi_la_SOURCES = $(EXAMPLE_LAYER_SOURCES)
examples_layer_libexample_top_fi_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBFABRIC_CFLAGS) -DEXL_NAME='"example_top"'
examples_layer_libexample_top_fi_la_LDFLAGS = $(EXAMPLE_LAYER_LDFLAGS)
examples_layer_libexample_top_fi_la_LIBADD = $(EXAMPLE_LAYER_LIBADD)

TESTS += examples/layer/test-layer.sh
EXTRA_DIST += doc/writing-a-layer.md examples/layer/local.mk examples/layer/rooms examples/layer/test-layer.sh
