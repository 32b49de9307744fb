# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause
# A part of check-route: what the tutorial says.
# shellcheck disable=SC2034,SC2154 # check-route has the rest

# shellcheck disable=SC2016
part_figure() {
	[ "$provider" = route ] || { skip figure "$provider has no way between the organizations"; return; }
	not_short figure || return
	step figure 200 T3 "$pingpong_text"'
		arrived() { "$net" in "$1" grep "$2:" /proc/net/dev | awk "{ print \$2 }"; }
		# way MORE LESS: data come from the one router, and next to none from the other.
		way() {
			local more less
			more=$(arrived ${1/-/ }) less=$(arrived ${2/-/ })
			pingpong route msg 0 || return
			more=$(($(arrived ${1/-/ }) - more)) less=$(($(arrived ${2/-/ }) - less))
			echo "$1 received $more bytes, $2 $less"
			[ $more -ge 10000000 ] && [ $less -lt 1000000 ]
		}
		from=compute to=storage
		way storage-disks as4r2-r2 || exit 1
		to=far address=10.4.2.20
		way as4r2-r2 as4r1-r1 || exit 1
		"$net" stop r2 KILL && "$net" agree && way as4r1-r1 as4r2-r2 || exit 1
		# What the tutorial asks R4, whose file says where it listens for that.
		cd "$ROUTE_NET" && fi_routectl why 4:2 --from 3:3 -c r4.conf | tee /dev/stderr | grep -q "^chosen  215 .*3:3,3:1,0:0 " &&
			fi_routectl show blocked -c r4.conf && fi_routectl ready -w 5000 -c r4.conf &&
			fi_routectl trace 4:2:10.4.2.20 -c r4.conf'
}
