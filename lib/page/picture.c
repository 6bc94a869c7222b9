// SPDX-License-Identifier: Apache-2.0
// Draws the planes of a picture: lines first, the busiest above the others, then boxes, then what
// stands out with its name.

#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check_memory.h>
#include <weft/core/order.h>

#include "html_plot.h"
#include "report_model.h"

#define DASH "\xe2\x80\x93"
#define SHADES 5 // of load, above none
#define PLANES_DRAWN 4
#define MANY 100  // lines: they are thin then
#define ALIKE 0.1 // planes whose busiest links differ by no more look alike

// ---------------------------------------------------------------- lines

static const char *shade_of(double share)
{
	static const char *const names[] = {"k0", "k1", "k2", "k3", "k4", "k5"};
	if (share < 0)
		return "ku";
	return names[share < 0.005 ? 0 : 1 + (int)fmin(SHADES - 1, floor(share * SHADES))];
}

struct drawn {
	const struct picture_line *line;
	const struct picture_box *a, *b;
};

static int drawn_compare(const void *left, const void *right)
{
	const struct drawn *a = left, *b = right;
	if (a->line->is_culprit != b->line->is_culprit)
		return a->line->is_culprit ? 1 : -1;
	return ORDER(a->line->high, b->line->high);
}

static void line_title(FILE *to, const struct drawn *one)
{
	const struct picture_line *line = one->line;
	fputs("<title>", to);
	html_text(to, one->a->name);
	fputs(" " DASH " ", to);
	html_text(to, one->b->name);
	if (line->high < 0)
		fprintf(to, ": %u links", line->links);
	else if (line->links == 1)
		fprintf(to, ": %.0f %% busy", line->high * 100);
	else
		fprintf(to, ": %u links, %.0f %% busy, the busiest %.0f %%", line->links,
			line->sum / line->links * 100, line->high * 100);
	fputs("</title>", to);
}

// A link that closes a ring of a grid bends around what lies between.
static void line_path(FILE *to, const struct picture_plan *plan, const struct drawn *one)
{
	double ax = one->a->x, ay = one->a->y, bx = one->b->x, by = one->b->y, bend = 0;
	if (plan->picture->form == PICTURE_GRID && hypot(ax - bx, ay - by) > 1.6 * 70)
		bend = 14;
	double side = fabs(ax - bx) < 1 ? bend : 0, lift = fabs(ay - by) < 1 ? bend : 0;
	if (bend > 0)
		fprintf(to, "<path d=\"M%.1f %.1fQ%.1f %.1f %.1f %.1f\" fill=\"none\"", ax, ay,
			(ax + bx) / 2 - side, (ay + by) / 2 - lift, bx, by);
	else
		fprintf(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"", ax, ay, bx,
			by);
}

static void put_line(FILE *to, const struct picture_plan *plan, const struct drawn *one)
{
	double width = fmin(1.4 + 0.6 * log2(one->line->links), plan->drawn > MANY ? 2 : 6);
	const char *end = plan->picture->form == PICTURE_GRID &&
			hypot(one->a->x - one->b->x, one->a->y - one->b->y) > 1.6 * 70
		? "</path>\n"
		: "</line>\n";
	if (one->line->is_culprit) { // a rim, so that it stands above what it crosses
		line_path(to, plan, one);
		fputs(" class=\"rim\" stroke-width=\"8\"/>", to);
	}
	line_path(to, plan, one);
	if (one->line->is_culprit)
		fputs(" class=\"hot\" stroke-width=\"4.5\" stroke-dasharray=\"8 4\">", to);
	else
		fprintf(to, " class=\"%s\" stroke-width=\"%.1f\">", shade_of(one->line->high),
			width);
	line_title(to, one);
	fputs(end, to);
}

// Returns the first line that stands out, if there is one.
static struct drawn put_lines(FILE *to, struct picture_plan *plan)
{
	uint32_t count = 0;
	struct drawn *list = calloc((size_t)BOXES_MAX * BOXES_MAX, sizeof(*list)), hot = {0};
	check_memory(list != NULL);
	for (uint32_t a = 0; a < plan->box_count; a++)
		for (uint32_t b = 0; b < plan->box_count; b++) {
			const struct picture_line *line = &plan->lines[a * BOXES_MAX + b];
			if (line->links > 0)
				list[count++] = (struct drawn){line, &plan->boxes[a],
							       &plan->boxes[b]};
		}
	qsort(list, count, sizeof(*list), drawn_compare);
	plan->drawn = count;
	for (uint32_t i = 0; i < count; i++)
		put_line(to, plan, &list[i]);
	if (count > 0 && list[count - 1].line->is_culprit)
		hot = list[count - 1];
	free(list);
	return hot;
}

// ---------------------------------------------------------------- boxes

// The name of a box, as much of it as fits.
static const char *fitting(const struct picture_box *box, double letter)
{
	size_t dashes = strstr(box->name, DASH) != NULL ? 2 : 0; // one sign of three bytes
	double wide = 0.62 * letter;
	if ((double)(strlen(box->name) - dashes) * wide <= box->width - 2)
		return box->name;
	dashes = strstr(box->brief, DASH) != NULL ? 2 : 0;
	if ((double)(strlen(box->brief) - dashes) * wide <= box->width)
		return box->brief;
	return (double)strlen(box->least) * wide <= box->width ? box->least : "";
}

static void put_box(FILE *to, const struct picture_plan *plan, const struct picture_box *box)
{
	double top = box->y - box->height / 2;
	fprintf(to,
		"<g><rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\" rx=\"3\"/>",
		box->is_culprit ? "hotbox" : "box", box->x - box->width / 2, top, box->width,
		box->height);
	double step = box->dots > 0 ? fmin(11, (box->width - 8) / box->dots) : 0;
	for (uint32_t i = 0; i < box->dots; i++)
		fprintf(to, "<circle class=\"nic\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>",
			box->x + step * (i + 0.5 - box->dots / 2.0), top + 9, fmin(3, step * 0.36));
	const char *word = fitting(box, plan->letter);
	if (*word != '\0') {
		fprintf(to,
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" font-size=\"%.1f\">",
			box->x, box->dots > 0 ? top + 27 : box->y + 0.36 * plan->letter,
			plan->letter);
		html_text(to, word);
		fputs("</text>", to);
	}
	fputs("</g>\n", to);
}

static void put_rows(FILE *to, const struct picture_plan *plan)
{
	static const char *const names[] = {"hosts", "T0", "T1", "T2", "T3"};
	bool is_nics = plan->picture->nics == plan->picture->hosts;
	for (uint32_t row = 0; row < plan->rows && plan->picture->form == PICTURE_ROWS; row++)
		for (uint32_t i = 0; i < plan->box_count; i++)
			if (plan->boxes[i].row == row) {
				fprintf(to,
					"<text class=\"s\" x=\"0\" y=\"%.1f\" font-size=\"%.1f\">"
					"%s</text>",
					plan->boxes[i].y + 4, plan->letter,
					row == 0 && is_nics ? "NICs" : names[row]);
				break;
			}
}

// ---------------------------------------------------------------- what stands out

// The first culprit by name and finding, beside the middle of its line.
static void put_callout(FILE *to, const struct picture_plan *plan, const struct drawn *hot)
{
	char name[4 * PICTURE_NAME_BYTES + 8], finding[64];
	double x = (hot->a->x + hot->b->x) / 2, y = (hot->a->y + hot->b->y) / 2;
	snprintf(name, sizeof(name), "%s " DASH " %s", hot->a->name, hot->b->name);
	snprintf(finding, sizeof(finding), "%s", document_text(plan->picture->culprit, "finding"));
	for (char *at = finding; *at != '\0'; at++)
		*at = *at == '_' ? ' ' : *at;
	double width = fmax(0.66 * plan->letter * (double)strlen(name), 60) + 12;
	double left = fmin(x + 14, plan->width - width - 2), top = y - 18;
	fprintf(to,
		"<circle class=\"spot\" cx=\"%.1f\" cy=\"%.1f\" r=\"8\"/><path class=\"cross\" "
		"d=\"M%.1f %.1fl7 7m0 -7l-7 7\"/>",
		x, y, x - 3.5, y - 3.5);
	fprintf(to,
		"<rect class=\"call\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"36\" "
		"rx=\"4\"/><text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" font-weight=\"650\">",
		left, top, width, left + 6, top + 15, plan->letter);
	html_text(to, name);
	fprintf(to, "</text><text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">", left + 6, top + 29,
		plan->letter);
	html_text(to, finding);
	fputs("</text>", to);
}

// ---------------------------------------------------------------- planes

static void put_plane(FILE *to, const struct picture *picture, uint32_t plane, double width,
		      double letter, const char *look)
{
	struct picture_plan *plan = malloc(sizeof(*plan));
	check_memory(plan != NULL);
	picture_plan(plan, picture, plane, width, letter);
	fprintf(to,
		"<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"plane %u: "
		"%u boxes of hosts and switches\">\n<text x=\"%.0f\" y=\"14\" font-size=\"13\" "
		"font-weight=\"650\">plane %u</text>",
		look, plan->width, plan->height, plane, plan->box_count,
		picture->form == PICTURE_ROWS ? plan->left : 0, plane);
	put_rows(to, plan);
	struct drawn hot = put_lines(to, plan);
	for (uint32_t i = 0; i < plan->box_count; i++)
		put_box(to, plan, &plan->boxes[i]);
	if (hot.line != NULL)
		put_callout(to, plan, &hot);
	fputs("</svg>\n", to);
	picture_plan_free(plan);
	free(plan);
}

static bool stands_out(const struct picture *picture, uint32_t plane)
{
	return plane < PICTURE_PLANES_MAX && (picture->culprit_planes >> plane & 1) != 0;
}

// Planes to draw: those that something stands out in, then one of each kind of load.
static uint32_t choose(const struct picture *picture, uint32_t ret[PLANES_DRAWN])
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < picture->planes && count < PLANES_DRAWN; i++)
		if (stands_out(picture, i))
			ret[count++] = i;
	for (uint32_t i = 0; i < picture->planes && i < PICTURE_PLANES_MAX && count < PLANES_DRAWN;
	     i++) {
		bool is_like = stands_out(picture, i);
		for (uint32_t k = 0; k < count && picture->planes > 2 && !is_like; k++)
			is_like = fabs(picture->plane_high[ret[k]] - picture->plane_high[i]) <
				ALIKE;
		if (!is_like)
			ret[count++] = i;
	}
	return count;
}

static void put_rest(FILE *to, const struct picture *picture, const uint32_t *drawn, uint32_t count)
{
	double low = HUGE_VAL, high = 0;
	for (uint32_t i = 0; i < picture->planes && i < PICTURE_PLANES_MAX; i++) {
		bool is_drawn = false;
		for (uint32_t k = 0; k < count; k++)
			is_drawn |= drawn[k] == i;
		if (is_drawn)
			continue;
		low = fmin(low, picture->plane_high[i]);
		high = fmax(high, picture->plane_high[i]);
	}
	uint32_t rest = picture->planes - count;
	if (rest > 0 && low <= high && picture->traffic_ps > 0) {
		fprintf(to,
			rest == 1 ? "<p class=\"note\">Not drawn: %u plane that looks alike; its "
				    "busiest link was "
				  : "<p class=\"note\">Not drawn: %u planes that look alike; the "
				    "busiest link of each was ",
			rest);
		fprintf(to,
			lround(low * 1e3) == lround(high * 1e3)
				? "%.1f %% busy.</p>\n"
				: "between %.1f and %.1f %% busy.</p>\n",
			low * 100, high * 100);
	} else if (rest > 0)
		fprintf(to, "<p class=\"note\">%u of %u planes are drawn.</p>\n", count,
			picture->planes);
}

static void put_legend(FILE *to, const struct picture *picture)
{
	fputs("<p class=\"legend\">", to);
	if (picture->traffic_ps > 0)
		fputs("<span>busy while traffic ran: <i class=\"c0\"></i> 0 <i class=\"c1\"></i><i "
		      "class=\"c2\"></i><i class=\"c3\"></i><i class=\"c4\"></i><i "
		      "class=\"c5\"></i> 100 %</span>",
		      to);
	if (picture->culprit != NULL)
		fputs("<span><i class=\"dash\"></i> stands out</span>", to);
	fputs("</p>\n", to);
}

void picture_write(FILE *to, const struct picture *picture)
{
	uint32_t planes[PLANES_DRAWN], count = choose(picture, planes);
	bool is_one = count == 1;
	fprintf(to, "<div class=\"fabric%s\">\n", is_one ? " one" : "");
	for (uint32_t i = 0; i < count; i++) {
		fputs("<div>", to);
		put_plane(to, picture, planes[i], is_one ? 760 : 560, 11, "broad");
		put_plane(to, picture, planes[i], 350, 10.5, "narrow");
		fputs("</div>\n", to);
	}
	fputs("</div>\n", to);
	put_rest(to, picture, planes, count);
	put_legend(to, picture);
}

void picture_sentence(const struct picture *picture, char *ret, size_t bytes)
{
	int used = 0;
	if (picture->traffic_ps <= 0) {
		snprintf(ret, bytes,
			 "A sample does not carry what the whole would: how busy links were is "
			 "unknown.");
		return;
	}
	if (picture->trunk_low <= picture->trunk_high)
		used = snprintf(ret, bytes,
				"Links between switches were %.0f to %.0f %% busy in their busier "
				"direction; the busiest is %s. ",
				picture->trunk_low * 100, picture->trunk_high * 100,
				picture->busiest);
	if (used >= 0 && (size_t)used < bytes)
		snprintf(ret + used, bytes - (size_t)used,
			 "The busiest line of a NIC is that of %s, %.0f %%.", picture->nic_busiest,
			 picture->nic_high * 100);
}
