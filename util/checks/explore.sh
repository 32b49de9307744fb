# shellcheck shell=bash disable=SC2034,SC2154 # settings of steps, and what util/check has
# rpcrdma in every order in which messages, completions, events and calls may happen, and with faults; flow
# control of routed connections and the exchange of routers in the same way.
# Every state in which the power may fail; programs by chance, of seeds that are the same each time and
# of one that is printed; each part of each plan left out, and faults of the provider.
suite explore "the explorers: durable operations and power failures, rpcrdma, route, all states"
suite_explore() {
	local suite=explore part='' needs=unit name

	gives explorers build-explorers 600 make -C "$top/build/unit" fabtests/explore/explore fabtests/explore/explore_rpcrdma \
		fabtests/script/libscript-fi.la fabtests/script/libtested-fi.la fabtests/explore/explore_route_credit \
		fabtests/explore/explore_route_flood
	needs=explorers
	step explore 600 explorer explore
	for name in rpcrdma route_credit route_flood; do
		step "explore-${name/_/-}" 600 explorer "explore_$name"
	done
	part=explorers-long
	step explore-chance 600 explorer explore -r 4 -S 1
	step explore-fresh 600 explorer explore -r 4
	step explore-mutations 900 explorer explore -m
	for name in rpcrdma route_credit route_flood; do
		step "explore-${name/_/-}-mutations" 600 explorer "explore_$name" -m
	done
}

explorer() { # PROGRAM OPTION...
	with unit "$top/build/unit/fabtests/explore/$1" "${@:2}"
}
