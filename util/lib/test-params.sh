#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# The parameters that each provider defines, as "fi_info -e" prints them, are those of its manual page, with the same
# defaults. Run by "make check" in the build folder.
set -u -o pipefail

src=$(cd "$(dirname "$0")/../.." && pwd)
status=0

# told PROVIDER: "NAME<tab>DEFAULT" of each parameter, of the text that ends in "(default: DEFAULT)" or "(default: DEFAULT; RANGE)"
told() {
	env -u FI_PROVIDER FI_PROVIDER_PATH="$PWD/prov/$1/.libs" fi_info -e 2>/dev/null | LC_ALL=C awk -v prefix="FI_${1^^}_" '
	/^# / && index($2, prefix) == 1 && $2 ~ /:$/ {
		name = substr($2, 1, length($2) - 1)
		next
	}
	name != "" {
		value = $0
		if (!sub(/.*\(default: /, "", value))
			value = "?"
		sub(/(;[^;]*)?\)$/, "", value)
		print name "\t" value
		name = ""
	}' | sort
}

# written PROVIDER: the same of the entries below PARAMETERS in its manual page: "Default: ..." up to the end of the entry
written() {
	awk -v prefix="FI_${1^^}_" '
	function entry(    i) {
		if (!sub(/.*Default: /, "", text))
			text = "?"
		gsub(/[*]/, "", text)
		sub(/ +$/, "", text)
		for (i in names)
			print names[i] "\t" text
		delete names
		text = ""
	}
	/^# / {
		entry()
		inside = $0 == "# PARAMETERS"
	}
	!inside { next }
	index($0, prefix) == 1 {
		entry()
		split($0, names, /, */)
		next
	}
	{ text = text " " $0 }
	END { entry() }' "$src/man/fi_$1.7.md" | sort
}

# compare PROVIDER
compare() {
	join -t $'\t' -a 1 -a 2 -e - -o 0,1.2,2.2 <(told "$1") <(written "$1") | awk -F '\t' -v page="fi_$1(7)" '
	function wrong(what) {
		print page ": " $1 ": " what
		failed = 1
	}
	{ count++ }
	$2 == "-" { wrong("not a parameter of the provider"); next }
	$3 == "-" { wrong("missing, the default is " $2); next }
	$2 == "?" { wrong("fi_info -e does not say the default"); next }
	index($3, $2) != 1 || substr($3, length($2) + 1, 1) !~ /^[.,: ]?$/ { wrong("the default is " $2 ", not " substr($3, 1, 40)) }
	END {
		if (!count) {
			print page ": no parameters found"
			failed = 1
		}
		exit failed
	}'
}

mapfile -t providers < <(sed 's/[[:space:]]*#.*//; /^$/d' "$src/prov/list")
for provider in "${providers[@]}"; do
	# Not grep -q, which ends nm early: with pipefail that reads as "not found".
	if nm -D "prov/$provider/.libs/lib$provider-fi.so" | grep -E '__(asan|tsan)_init' >/dev/null; then
		echo "skip: fi_info does not load what a sanitizer was built into"
		exit 77
	fi
	compare "$provider" || status=1
done
exit $status
