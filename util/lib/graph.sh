# shellcheck shell=bash
# Pictures of graphs. Each SVG ends with a checksum of the graph that it was made from: so whether it is up to date can be
# told without graphviz, and whichever version of it drew the picture.

graph_mark() {
	printf '<!-- graph: %s -->\n' "$(cksum | cut -d ' ' -f 1)"
}

# graph_draw FILE.svg FILTER...: draws the graph on standard input, as the filter changes it.
graph_draw() {
	local graph picture
	graph=$(cat)
	picture=$("${@:2}" <<<"$graph" | dot -Tsvg) || return 1
	{
		echo "$picture"
		graph_mark <<<"$graph"
	} >"$1"
}

# graph_check FILE.svg COMMAND: fails when the picture is not of the graph on standard input; COMMAND would draw it.
graph_check() {
	grep -qxF -- "$(graph_mark)" "$1" && return
	echo "$1 is out of date; to draw it: $2"
	return 1
}
