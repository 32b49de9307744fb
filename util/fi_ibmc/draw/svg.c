/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table as SVG: groups are rows, under the head of their link, ports are columns. A dot
 * is a full member, a circle a non-member, a triangle one that sends only; a gray dot is
 * a member whose state is not told.
 */
#include <string.h>

#include "draw.h"

#define MARGIN 16
#define ROW 22
#define COLUMN 26
/* Of a text in its font, on average. */
#define CHARACTER 7.3
#define LABELS 520
#define ADDRESS_AT MARGIN
#define MGID_AT 170
#define MLID_AT 456
/* Names of ports lean: so far up, and to the right. */
#define NAME_MOST 32
#define LEAN 0.71

struct sheet {
	const struct imc_subnet *subnet;
	struct imc_ports ports;
	FILE *out;
	int head; /* height of the names of ports */
	int name; /* and their width */
	int y;
};

static void print_escaped(FILE *out, const char *text, size_t most)
{
	for (; *text && most--; text++) {
		if (*text == '&')
			fputs("&amp;", out);
		else if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			/* "]]>" may not stand in a text. */
			fputs("&gt;", out);
		else
			fputc(*text, out);
	}
}

static void text_at(const struct sheet *sheet, int x, const char *class, const char *text)
{
	fprintf(sheet->out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, sheet->y + 15,
		class);
	print_escaped(sheet->out, text, IMC_PORT_TEXT);
	fputs("</text>\n", sheet->out);
}

static int column_at(uint32_t column)
{
	return LABELS + (int)column * COLUMN + COLUMN / 2;
}

static void draw_names(const struct sheet *sheet)
{
	char text[IMC_PORT_TEXT];
	uint32_t i;

	for (i = 0; i < sheet->ports.ports; i++) {
		fprintf(sheet->out,
			"<text transform=\"translate(%d %d) rotate(-45)\" "
			"class=\"port\">",
			column_at(i) + 4, sheet->head - 6);
		print_escaped(sheet->out,
			      imc_port_text(sheet->subnet, sheet->ports.port[i], text),
			      NAME_MOST);
		fputs("</text>\n", sheet->out);
	}
}

/* Of the longest name, leaning. */
static int name_size(const struct sheet *sheet)
{
	char text[IMC_PORT_TEXT];
	size_t longest = 0, len;
	uint32_t i;

	for (i = 0; i < sheet->ports.ports; i++) {
		len = strlen(imc_port_text(sheet->subnet, sheet->ports.port[i], text));
		if (len > longest)
			longest = len < NAME_MOST ? len : NAME_MOST;
	}
	return (int)((double)longest * CHARACTER * LEAN);
}

static int width_of(const struct sheet *sheet)
{
	return LABELS + (int)sheet->ports.ports * COLUMN + sheet->name + MARGIN;
}

/* The row and its lines, behind the marks. */
static void draw_lines(const struct sheet *sheet)
{
	fprintf(sheet->out,
		"<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" class=\"row\"/>\n", MARGIN,
		sheet->y + ROW, LABELS + (int)sheet->ports.ports * COLUMN,
		sheet->y + ROW);
}

static void draw_mark(const struct sheet *sheet, int x, uint8_t state)
{
	const int y = sheet->y + ROW / 2;

	if (!state || state & PVB_MCM_FULL)
		fprintf(sheet->out,
			"<circle cx=\"%d\" cy=\"%d\" r=\"6\" class=\"%s\"/>\n", x, y,
			state ? "full" : "untold");
	else if (state & PVB_MCM_NON_MEMBER)
		fprintf(sheet->out,
			"<circle cx=\"%d\" cy=\"%d\" r=\"5\" class=\"non\"/>\n", x, y);
	else
		fprintf(sheet->out,
			"<path d=\"M%d %d l10 5 l-10 5 z\" class=\"sends\"/>\n", x - 5,
			y - 5);
}

/* Members are in order of GIDs, as the columns are. */
static void draw_members(const struct sheet *sheet, const struct imc_group *group)
{
	const struct imc_record *member = group->member;
	uint32_t i, k = 0;

	for (i = 0; i < group->members; i++, member++) {
		while (k < sheet->ports.ports &&
		       memcmp(sheet->ports.port[k]->mcm.port_gid, member->mcm.port_gid,
			      sizeof(member->mcm.port_gid)) != 0)
			k++;
		draw_mark(sheet, column_at(k), member->mcm.join_state);
	}
}

static void draw_group(struct sheet *sheet, const struct imc_group *group)
{
	const struct imc_name *name = &group->record->name;
	const bool special = name->kind != IMC_KIND_GROUP && name->kind != IMC_KIND_OTHER;
	char text[IMC_TEXT];

	draw_lines(sheet);
	text_at(sheet, ADDRESS_AT, special ? "special" : "group",
		imc_address_text(name, text));
	text_at(sheet, MGID_AT, "mgid", imc_gid_text(name->mgid, text));
	snprintf(text, sizeof(text), "0x%04x", group->record->mcm.mlid);
	text_at(sheet, MLID_AT, "mgid", text);
	draw_members(sheet, group);
	sheet->y += ROW;
}

static void draw_head(struct sheet *sheet, const char *text)
{
	fprintf(sheet->out,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" class=\"link\"/>\n",
		MARGIN - 6, sheet->y,
		LABELS - MARGIN + 6 + (int)sheet->ports.ports * COLUMN, ROW);
	text_at(sheet, MARGIN, "title", text);
	sheet->y += ROW;
}

static void draw_link(struct sheet *sheet, const struct imc_link *link)
{
	const struct imc_group *base = imc_link_base(link);
	char text[IMC_PORT_TEXT];
	uint32_t i;
	int len;

	len = snprintf(text, sizeof(text), "Partition 0x%04x, scope %u", link->pkey,
		       link->scope);
	if (base)
		snprintf(text + len, sizeof(text) - (size_t)len, ": MTU %u, Q_Key 0x%08x",
			 imc_mtu_bytes(base->record->mcm.mtu), base->record->mcm.qkey);
	else
		snprintf(text + len, sizeof(text) - (size_t)len, ": no all-node group");
	draw_head(sheet, text);
	for (i = 0; i < link->groups; i++)
		draw_group(sheet, &link->group[i]);
	sheet->y += ROW / 2;
}

/* They are behind those of links. */
static bool has_others(const struct imc_subnet *subnet)
{
	return subnet->groups && !subnet->group[subnet->groups - 1].record->name.ip;
}

static void draw_others(struct sheet *sheet)
{
	const struct imc_subnet *subnet = sheet->subnet;
	uint32_t i;

	if (!has_others(subnet))
		return;
	draw_head(sheet, "Groups of no IPoIB link");
	for (i = 0; i < subnet->groups; i++)
		if (!subnet->group[i].record->name.ip)
			draw_group(sheet, &subnet->group[i]);
	sheet->y += ROW / 2;
}

static void draw_legend(struct sheet *sheet)
{
	static const struct {
		uint8_t state;
		const char *text;
	} marks[] = {
		{PVB_MCM_FULL, "full member"},
		{PVB_MCM_NON_MEMBER, "non-member"},
		{PVB_MCM_SEND_ONLY_FULL, "send-only"},
	};
	int x = MARGIN + 6;
	size_t i;

	if (!(sheet->subnet->has & IMC_HAS_MEMBERS)) {
		text_at(sheet, MARGIN, "mgid", "Members are not told.");
		return;
	}
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++, x += 130) {
		draw_mark(sheet, x, marks[i].state);
		text_at(sheet, x + 12, "mgid", marks[i].text);
	}
}

/* Rows, heads of links, and a half row behind each. */
static int height_of(const struct sheet *sheet)
{
	const struct imc_subnet *subnet = sheet->subnet;

	return sheet->head + ROW * (int)subnet->groups +
	       (ROW + ROW / 2) * (int)(subnet->links + has_others(subnet)) + ROW + MARGIN;
}

static void begin(const struct sheet *sheet)
{
	const int width = width_of(sheet), height = height_of(sheet);

	fprintf(sheet->out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n"
		"<style>\n"
		"text { font: 12px sans-serif; fill: #222 }\n"
		".mgid { font-family: monospace; font-size: 11px }\n"
		".special, .title { font-weight: bold }\n"
		".link { fill: #e4ebf2 }\n"
		".row { stroke: #ddd }\n"
		".full { fill: #1f5f9f }\n"
		".untold { fill: #999 }\n"
		".non { fill: none; stroke: #1f5f9f; stroke-width: 2 }\n"
		".sends { fill: #c07818 }\n"
		"</style>\n"
		"<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n",
		width, height, width, height, width, height);
}

int imc_svg(const struct imc_subnet *subnet, FILE *out)
{
	struct sheet sheet = {.subnet = subnet, .out = out};
	uint32_t i;
	int ret = imc_ports_open(subnet, &sheet.ports);

	if (ret)
		return ret;
	sheet.name = name_size(&sheet);
	sheet.head = MARGIN + sheet.name;
	sheet.y = sheet.head;
	begin(&sheet);
	draw_names(&sheet);
	for (i = 0; i < subnet->links; i++)
		draw_link(&sheet, &subnet->link[i]);
	draw_others(&sheet);
	draw_legend(&sheet);
	fputs("</svg>\n", out);
	imc_ports_close(&sheet.ports);
	return 0;
}
