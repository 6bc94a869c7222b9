// SPDX-License-Identifier: Apache-2.0
// Ladder diagrams. See html_ladder.h.

#include <weft/page/html_ladder.h>

#include <inttypes.h>

#include "html_plot.h"

#define ROW 26.0
#define TOP 48.0
#define TIP 7.0	   // of an arrow
#define CROSS 5.0  // half of one
#define SHORT 60.0 // from where what is lost ends to where it was to go; of a narrow one half

struct sides {
	double width, left, tap, right;
	bool is_wide;
};

static const struct sides wide = {1100, 150, 545, 940, true}, narrow = {350, 62, 176, 290, false};

static const char *look_of(const struct html_rung *rung)
{
	return rung->lost == HTML_RUNG_LOST_BEFORE ? "rung lost"
		: rung->look == HTML_RUNG_ASKS	   ? "rung asks"
		: rung->look == HTML_RUNG_AGAIN	   ? "rung again"
						   : "rung";
}

static void put_tip(FILE *to, const struct html_rung *rung, double x, double y)
{
	double back = rung->is_back ? TIP : -TIP;
	fprintf(to, "<path class=\"%s\" d=\"M%.1f %.1fl%.1f -4v8z\"/>", look_of(rung), x, y, back);
}

static void put_cross(FILE *to, double x, double y)
{
	plot_line(to, "cross lost", x - CROSS, y - CROSS, x + CROSS, y + CROSS);
	plot_line(to, "cross lost", x - CROSS, y + CROSS, x + CROSS, y - CROSS);
}

static void put_rung(FILE *to, const struct sides *sides, const struct html_rung *rung, double y)
{
	char number[40];
	double from = rung->is_back ? sides->right : sides->left;
	double until = rung->is_back ? sides->left : sides->right;
	double missing = sides->is_wide ? SHORT : SHORT / 2;
	if (rung->lost == HTML_RUNG_LOST_BEFORE)
		until = sides->tap - missing;
	else if (rung->lost == HTML_RUNG_LOST_BEHIND)
		until = sides->right - missing;
	plot_line(to, look_of(rung), from, y, until, y);
	if (rung->lost == HTML_RUNG_ARRIVES)
		put_tip(to, rung, until, y);
	else
		put_cross(to, until + CROSS, y);
	plot_text(to, sides->tap, y - 5, "middle", rung->what);
	if (rung->when[0] != '\0')
		plot_text(to, sides->left - 8, y + 4, "end", rung->when);
	if (rung->number == 0)
		return;
	snprintf(number, sizeof(number), "%s%" PRIu64, sides->is_wide ? "packet " : "",
		 rung->number);
	plot_text(to, sides->right + 8, y + 4, "start", number);
}

static void put_rails(FILE *to, const struct sides *sides, double height)
{
	plot_text(to, sides->left, TOP - 28, "middle", "sender");
	plot_text(to, sides->tap, TOP - 28, "middle", "capture point");
	plot_text(to, sides->right, TOP - 28, "middle", "receiver");
	plot_line(to, "rail", sides->left, TOP - 20, sides->left, height);
	plot_line(to, "rail tap", sides->tap, TOP - 20, sides->tap, height);
	plot_line(to, "rail", sides->right, TOP - 20, sides->right, height);
}

void html_ladder(FILE *to, const struct html_rung *rungs, uint32_t count, bool is_wide)
{
	const struct sides *sides = is_wide ? &wide : &narrow;
	char gap[48];
	double y = TOP, height = TOP + ROW * (count + 1);
	for (uint32_t i = 0; i < count; i++)
		height += rungs[i].left_out > 0 ? ROW : 0;
	fprintf(to,
		"<svg class=\"%s\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"Packets "
		"between sender and receiver, %" PRIu32 " of them\">",
		is_wide ? "broad" : "narrow", sides->width, height, count);
	put_rails(to, sides, height);
	for (uint32_t i = 0; i < count; i++) {
		y += ROW;
		if (rungs[i].left_out > 0) {
			snprintf(gap, sizeof(gap), "%" PRIu64 " more packets", rungs[i].left_out);
			plot_text(to, sides->tap, y - 5, "middle", gap);
			y += ROW;
		}
		put_rung(to, sides, &rungs[i], y);
	}
	fputs("</svg>\n", to);
}
