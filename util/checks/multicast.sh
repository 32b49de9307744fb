# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
suite multicast "multicast on an IPoIB link: subnet administration of opensm and of simverbs, row by row of its requirements"
# Only what is sent to groups on simverbs has data.
suite_multicast() {
	local suite=multicast part='' needs=unit

	gives multicast build-multicast 600 make -C "$top/build/unit" util/simverbs/test/sa_client util/simverbs/test/group_data \
		util/fi_ibmc/fi_ibmc fabtests/interop/fi_cairn_link
	needs=multicast
	counted multicast-rows 600 "$top/fabtests/interop/check-multicast" --strict
	counted multicast-simverbs 600 "$top/util/simverbs/test-simverbs" --build "$top/build/unit" --strict sa group-data
	counted multicast-link 600 "$top/fabtests/interop/check-link"
	counted multicast-ibmc 600 "$top/util/fi_ibmc/test-fi_ibmc" --build "$top/build/unit" --strict
}
