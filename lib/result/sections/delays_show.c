// SPDX-License-Identifier: Apache-2.0
// Delays of packets as people read them. See delays.h.

#include <weft/result/delays.h>

#include <inttypes.h>
#include <string.h>

#include <weft/world/world_delays.h>

#include "paths.h"
#include "sections.h"
#include <weft/result/latency_table.h>
#include <weft/result/number.h>

#define WIDTH 11

static void show_row(FILE *to, const char *name, const struct hist *hist, bool is_sample)
{
	struct latency of;
	struct text text;
	if (hist->total == 0)
		return;
	latency_of(&of, hist, is_sample);
	fprintf(to, "  %-32s %*s", name, WIDTH + 2, number_grouped(&text, of.count));
	latency_times(to, WIDTH, &of);
}

static void show_planes(FILE *to, const char *what, const struct hist *hists, uint32_t planes,
			bool is_sample)
{
	for (uint32_t i = 0; i < planes; i++) {
		char name[40];
		snprintf(name, sizeof(name), "%s, plane %" PRIu32, what, i);
		show_row(to, name, &hists[i], is_sample);
	}
}

static void show_classes(FILE *to, const char *what, const struct hist *hists, bool is_sample)
{
	for (int i = 0; i < PAIR_CLASS_COUNT; i++) {
		char name[40];
		snprintf(name, sizeof(name), "%s, %s", what, pair_class_name((enum pair_class)i));
		for (char *at = name; *at != '\0'; at++)
			*at = *at == '_' ? ' ' : *at;
		show_row(to, name, &hists[i], is_sample);
	}
}

static void show_counts(FILE *to, const struct delays *delays)
{
	const struct hist *order = &delays->order_packets, *incast = &delays->incast;
	struct text text[2];
	if (order->total > 0)
		fprintf(to,
			"  order: %s of %s packets came behind later ones, 99 %% behind at most "
			"%" PRId64 ", one behind %" PRId64 "\n",
			number_grouped(&text[0], order->total - order->counts[0]),
			number_grouped(&text[1], order->total), hist_quantile(order, 990000),
			order->max);
	if (incast->total > 0)
		fprintf(to,
			"  incast: a message that begins at a NIC is one of %" PRId64
			" there in the median, of %" PRId64 " at most\n",
			hist_quantile(incast, 500000), incast->max);
}

// The pair with the slowest message.
static void show_slowest(FILE *to, const struct world_delays *delays)
{
	struct worst_pairs pairs;
	struct text text[2];
	worst_pairs_find(&pairs, delays);
	if (pairs.count == 0)
		return;
	const struct pair_delay *worst = pairs.list[0];
	fprintf(to,
		"  slowest message: nic %" PRIu32 " to nic %" PRIu32
		", %s; the median of the two is %s\n",
		worst->from_nic, worst->to_nic,
		number_time(&text[0], worst->message_ns.max * PS_PER_NS),
		number_time(&text[1], hist_quantile(&worst->message_ns, 500000) * PS_PER_NS));
}

void delays_table(FILE *to, const struct report_input *input)
{
	const struct world_delays *delays = input->world->delays;
	bool is_sample = is_sampled(input);
	if (delays == NULL || input->is_short)
		return;
	const struct delays *whole = delays->whole;
	fprintf(to, "\nDelays of packets%*s", 31 - 14 + WIDTH + 3, "count");
	latency_heads(to, WIDTH);
	show_classes(to, "one way", whole->one_way_ns, is_sample);
	if (input->ports.name != NULL)
		fprintf(to, "  one way: unavailable, frames do not carry when they left\n");
	show_planes(to, "one way", whole->one_way_plane_ns, whole->planes, is_sample);
	show_planes(to, "round trip", whole->rtt_plane_ns, whole->planes, is_sample);
	show_classes(to, "gap", whole->gap_ns, is_sample);
	paths_table(to, input);
	incast_table(to, input);
	if (!is_sample) {
		show_counts(to, whole);
		show_slowest(to, delays);
	}
}
