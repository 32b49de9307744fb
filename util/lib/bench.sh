# shellcheck shell=bash
# What util/bench measures, and how. A figure is one number on standard output.
: "${work:?}" "${figures:?}" "${folder?}" "${address?}" "${device[*]-}" "${memory?}"

# Both sides of a perftest program; prints the fields of the client's last line of figures.
perftest() {
	local program=$1 server tries=0
	shift
	"${device[@]}" "$program" "$@" >"$work/server" 2>&1 &
	server=$!
	while ! ss -Hltn 'sport = :18515' | grep -q .; do
		tries=$((tries + 1))
		if [ $tries -gt 200 ] || ! kill -0 $server 2>/dev/null; then
			cat "$work/server" >&2
			kill $server 2>/dev/null
			return 1
		fi
		sleep 0.05
	done
	timeout 120 "${device[@]}" "$program" "$@" "$address" >"$work/client" 2>&1 || {
		cat "$work/client" >&2
		kill $server
		return 1
	}
	wait $server
	grep -E '^ *[0-9]+ +[0-9]+ ' "$work/client" | tail -n 1
}

# figure NAME COMMAND...: what it prints as NAME=NUMBER.
figure() {
	timeout 120 "${device[@]}" "${@:2}" >"$work/client" 2>&1 || {
		cat "$work/client" >&2
		return 1
	}
	sed -n "s/.* $1=\([0-9.]*\).*/\1/p" "$work/client" | tail -n 1
}

two_sides() {
	figure "$1" fi_cairn_bench -p "$2" --self="$address" "${@:3}"
}

# UCX on the software device alone. A completion for each request, as everybody else has.
ucx() {
	env UCX_TLS=rc_verbs,ud_verbs:aux UCX_NET_DEVICES=sim0:1 UCX_RC_VERBS_TX_CQ_MODERATION=1 "$@"
}

# one_side COUNT OPERATION PEER: the command for COUNT operations within one process, in "command"; the median of so many
# "times".
one_side() {
	local count=$1 rounds=${times-1} name size raw test where=() provider=${3/+/;}
	case $2 in
	rpc_*) rpcs "$1" "$2" "$3"; return ;;
	threads1) command=(rate -T 1) ;;
	threads2) command=(rate -T 2) ;;
	more) command=(rate -m 16) ;;
	selective) command=(rate -q 16) ;;
	*) command=() ;;
	esac
	if [ ${#command[@]} != 0 ]; then
		command=("fi_cairn_${command[0]}" -p "$3" "${command[@]:1}" -n "$count" "$address")
		return
	fi
	case $2 in
	layer_write) name=write size=8 ;;
	write8 | device) name=write size=8 raw=inline test=ucp_put_lat ;;
	layer_*rate | wrap_*rate) name=send size=64 ;;
	send64) name=send size=64 raw=send test=tag_lat ;;
	dgram64 | dgram_mtu) size=64 raw=datagram ;;
	write64k) name=write size=65536 raw=write test=ucp_put_lat ;;
	durable | compound)
		name=$2 size=64 raw=$2 where=(-m "$memory") rounds=1001
		[ ${#device[@]} != 0 ] || [ "$rest" = 0 ] || where+=(-g "$rest")
		;;
	esac
	if [[ $2 == dgram* ]] && [ "$3" != ibv ]; then
		command=(fi_cairn_dgrams -p "${3%-safe}" -o op -n "$count" -r 1 "$address")
		[[ $3 != *-safe ]] || command+=(-t safe)
		[ "$2" != dgram_mtu ] || command+=(-m 4096)
		return
	fi
	case $3 in
	memcpy) command=(bench_verbs -o memcpy -z "$size" -n "$count" -r 1) ;;
	ibv | inline) command=(bench_verbs -o "$raw" "${where[@]}" -z "$size" -n "$count" -r "$rounds") ;;
	region) command=(bench_verbs -o write -z "$size" -n "$count" -r 1) ;;
	ucx) command=(ucx_perftest -l -t "$test" -s "$size" -n "$count" -w 1 -f) ;;
	*-safe) command=(fi_cairn_op -p "${3%-safe}" -t safe -o "$name" -z "$size" -n "$count" -r 1 "$address") ;;
	*) command=(fi_cairn_op -p "$provider" -t domain -o "$name" "${where[@]}" -z "$size" -n "$count" -r "$rounds" "$address") ;;
	esac
}

# The same of fi_cairn_rpcs. "+" and more in PEER is the layer of the protocol.
rpcs() {
	local credits=${2##*_} op=call ways=1 count=$1
	case $credits in
	read | write) op=$credits credits=1 count=200 ;;
	call) credits=1 ;;
	esac
	[[ $2 != *_both_* ]] || ways=2
	command=(fi_cairn_rpcs -p "${3/+/;}" -o "$op" -c "$credits" -w "$ways" -n "$count"
		-r "${times-1}" "$address")
	[[ $3 == *+* ]] || command+=(-b)
}

# ns of one operation.
one_time() {
	local command count=50000 times=1
	case $1 in
	write64k) count=5000 ;;
	*_tcp_*) count=500 times=31 ;;
	layer_* | wrap_* | rpc_*) count=2000 times=31 ;;
	esac
	one_side $count "$1" "$2"
	if [ "$2" = ucx ]; then
		ucx "${device[@]}" "${command[@]}" >"$work/client" 2>&1 || {
			cat "$work/client" >&2
			return 1
		}
		# Its latency is half an iteration, though an iteration of a loopback is one operation. In us.
		awk '$1 ~ /^[0-9]+$/ { ns = $4 * 2000 } END { print ns }' "$work/client"
	else
		figure ns "${command[@]}"
	fi
}

# us of one. On kernel RDMA the fastest of many single ones: the virtual machine's processors need one another, and
# whatever else runs on this machine delays most of them, but not all.
durable() {
	local command count=1 which=least
	[ ${#device[@]} = 0 ] || count=50 which=ns
	one_side $count "$1" "$2"
	figure $which "${command[@]}" | awk '{ print $1 / 1000 }'
}

# Thousands of durable writes a second, so many at a time.
outstanding() {
	figure ns --latency 10 fi_cairn_op -o durable -m "$memory" -z 1024 -w "$1" -n 3000 -r 5 "$address" |
		awk '{ print 1e6 / $1 }'
}

# Instructions of one operation: what 5000 more add to a run. Of the device itself: those inside
# ibv_post_send and ibv_poll_cq.
one_count() {
	local command count ir=() only=()
	[ "$1" != device ] || only=(--toggle-collect=svb_post_send --toggle-collect=svb_poll_cq --toggle-collect=copy_once)
	for count in 1000 6000; do
		one_side $count "$1" "$2"
		ucx "${device[@]}" valgrind --tool=callgrind --callgrind-out-file=/dev/null "${only[@]}" "${command[@]}" \
			>"$work/client" 2>&1 || {
			cat "$work/client" >&2
			return 1
		}
		ir+=("$(sed -n 's/.*Collected : *//p' "$work/client")")
	done
	echo $(((ir[1] - ir[0] + 2500) / 5000))
}

# Thousands of messages a second.
messages() {
	one_time "$1" "$2" | awk '{ print 1e6 / $1 }'
}

# Connections a second, or KiB of an end.
connections() {
	figure "$1" fi_cairn_conns -p "$2" -n 1000 "$address"
}

# Millions of writes a second.
rate() {
	local command
	one_side 500000 "$1" "$2"
	figure per_s "${command[@]}" | awk '{ print $1 / 1e6 }'
}

# measure TEST PEER: one figure.
measure() {
	local round=2000 writes=500
	# The virtual machine is slow.
	[ ${#device[@]} = 0 ] || round=20000 writes=5000
	case $1-$2 in
	pingpong-ib_send_lat) perftest ib_send_lat -F -s 64 -n $round | awk '{ print $5 }' ;;
	pingpong-unix_socket) figure half_rtt_usec bench_local -k socket -z 64 -n $round ;;
	pingpong-shm_ring) figure half_rtt_usec bench_local -k ring -z 64 -n $round ;;
	pingpong-*) two_sides half_rtt_usec "$2" -m pingpong -z 64 -n $round -b 1 ;;
	# -x: with a GRH, as the providers' datagrams, whose addresses have a GID.
	dgram_pingpong-ib_send_lat) perftest ib_send_lat -F -c UD -x 0 -s 64 -n $round | awk '{ print $5 }' ;;
	dgram_pingpong-*) figure half_rtt_usec fi_cairn_dgrams -p "$2" -o pingpong -b 1 -n $round "$address" ;;
	# As many receives as datagrams, for a receiver of perftest waits for ever for one that was lost.
	dgram_rate-ib_send_bw) perftest ib_send_bw -F -c UD -x 0 -s 64 -I 64 -r 8192 -n 8000 | awk '{ print $5 * 1e3 }' ;;
	dgram_rate-*) figure per_s fi_cairn_dgrams -p "$2" -o rate -d 8192 -n 8000 "$address" | awk '{ print $1 / 1e3 }' ;;
	vector-*) figure per_s fi_cairn_dgrams -p "$2" -o vector -n 10000 "$address" | awk '{ print $1 / 1e6 }' ;;
	# perftest counts 2^20 bytes as a megabyte.
	write-ib_write_bw) perftest ib_write_bw -F -s 65536 -n $writes | awk '{ print $4 * 1.048576 }' ;;
	write-unix_socket) figure MB_per_s bench_local -m stream -k socket -z 65536 -n $writes ;;
	write-shm_ring) figure MB_per_s bench_local -m stream -k ring -z 65536 -n $writes ;;
	# perftest asks for a completion per 100 writes, so the others do too.
	write-*) two_sides MB_per_s "$2" -m write -z 65536 -n $writes -w 128 -q 100 ;;
	conns-*) connections per_s "$2" ;;
	memory-*) connections end_KiB "$2" ;;
	threads[12]-* | more-* | selective-*) rate "$1" "$2" ;;
	layer_tcp_ping* | wrap_tcp_ping*) two_sides min "${2/+/;}" -m pingpong -z 64 -n 4000 ;;
	layer_pingpong-* | wrap_pingpong-*) two_sides min "${2/+/;}" -m pingpong -z 64 -n 20000 ;;
	layer_*rate-* | wrap_*rate-* | rpc_*[0-9]-*) messages "$1" "$2" ;;
	rpc_*read-* | rpc_*write-*) one_time "$1" "$2" | awk '{ print 1048576e3 / $1 }' ;;
	outstanding-*) outstanding "${2/one/1}" ;;
	durable-* | compound-*) durable "$1" "$2" ;;
	*) one_time "$1" "$2" ;;
	esac
}

# Median, and the order statistics that bound it with 95 %: of the figures, and of the ratios to the
# first peer. With instructions, what each has more than the first. The same goes to the table in the folder, a line a
# peer: test, unit, repetitions, peer, median, its bounds, ratio, its bounds, instructions (or -), separated by tabs.
summarize() {
	local test=$1 unit=$2
	shift 2
	awk -v test="$test" -v unit="$unit" -v peers="$*" -v counts="$(cat "$figures/$test.count" 2>/dev/null)" \
		-v table="${folder:+$folder/table.tsv}" '
	function sorted(from, n, to,   i, j, t) {
		for (i = 1; i <= n; i++) to[i] = from[i]
		for (i = 2; i <= n; i++)
			for (j = i; j > 1 && to[j - 1] > to[j]; j--) { t = to[j]; to[j] = to[j - 1]; to[j - 1] = t }
	}
	function median(a, n) { return n % 2 ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }
	{ for (i = 1; i <= NF; i++) value[i, NR] = $i }
	END {
		count = split(peers, name, " ")
		split(counts, ir, " ")
		printf "%s, %d repetitions\n  %-20s %-32s %-26s%s\n", test, NR, "", unit " (95 %)",
			"ratio to " name[1], counts == "" ? "" : "  instructions  added"
		low = int(NR / 2 - 0.98 * sqrt(NR)); if (low < 1) low = 1
		for (p = 1; p <= count; p++) {
			for (r = 1; r <= NR; r++) { v[r] = value[p, r]; q[r] = value[p, r] / value[1, r] }
			sorted(v, NR, sv); sorted(q, NR, sq)
			printf "  %-20s %-32s %-26s", name[p],
				sprintf("%.2f (%.2f to %.2f)", median(sv, NR), sv[low], sv[NR + 1 - low]),
				sprintf("%.3f (%.3f to %.3f)", median(sq, NR), sq[low], sq[NR + 1 - low])
			if (counts != "") printf "  %12d %+6d", ir[p], ir[p] - ir[1]
			printf "\n"
			if (table != "")
				printf "%s\t%s\t%d\t%s\t%.4g\t%.4g\t%.4g\t%.3f\t%.3f\t%.3f\t%s\n", test, unit, NR, name[p],
					median(sv, NR), sv[low], sv[NR + 1 - low], median(sq, NR), sq[low], sq[NR + 1 - low],
					counts == "" ? "-" : ir[p] >>table
		}
	}' "$figures/$test"
}

plot() {
	local test=$1 unit=$2 i plots=()
	shift 2
	command -v gnuplot >/dev/null || return 0
	for ((i = 1; i <= $#; i++)); do
		plots+=("'$folder/$test.txt' using 0:$i with linespoints title '${*:i:1}'")
	done
	gnuplot -e "set terminal png size 900,500; set output '$folder/$test.png'; set title '$test';
		set ylabel '$unit'; set xlabel 'repetition'; set yrange [0:*]; set key noenhanced;
		plot $(IFS=,; echo "${plots[*]}")"
}
