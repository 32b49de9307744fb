# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# The parts of util/check: what the daily run leaves out. Each takes at most 30 minutes alone on 2 processors.
new_part sanitizers "ThreadSanitizer and valgrind; under AddressSanitizer what the daily run leaves out"
new_part configurations "every configuration of durable writes, datagrams and layers on the software device"
new_part releases "one binary on Debian 12 and 13, Debian 13's programs and libraries on the software device"
new_part next-release "our programs and binaries on Debian's next release"
new_part kernel-long "every functional program over kernel RDMA in all pairs of providers, persistent memory, the virtual machine tool"
new_part rpc-kernel-long "the Linux kernel's NFS over rpcrdma: lost connections, little memory, few credits, long silence"
new_part route-long "every failure, all programs with up to five routers, earlier routers, 10 minutes of load"
new_part explorers-long "mutations of the explorers' models, random programs of new seeds, the enumerations of plans"
new_part interop "Open MPI, UCX, librpma, perftest, mckey and libfabric's own programs; benchmarks, once; the test tools themselves"
