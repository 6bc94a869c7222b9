// SPDX-License-Identifier: Apache-2.0
// Traffic to each destination by time: peaks, bursts, and how many senders met.

#include <inttypes.h>
#include <string.h>

#include "analyze/lists.h"

#define MEETING_MIN 3 // fewer senders at a time are usual

// NULL where the bins of this width can be reported.
static const char *withheld(const struct call *call, const struct flow_target *target, int index)
{
	if (trust_of(call) == TRUST_COPIES) // order alone has a reason of its own here
		return trust_reason(TRUST_COPIES);
	return flow_bins_reason(flow_bins_state(call->report, target, index));
}

static double rate_bps(uint64_t bytes, double ns)
{
	return (double)bytes * 8e9 / ns;
}

static double mean_bps(const struct flow_target *target)
{
	double span_ns = (double)target->last_ns - (double)target->first_ns;
	return span_ns > 0 ? rate_bps(target->bytes, span_ns) : -1;
}

// ---------------------------------------------------------------- JSON

static void put_rate(json_t *to, const char *name, bool is_known, double value)
{
	json_object_set_new(to, name, is_known && value >= 0 ? json_real(value) : json_null());
}

static json_t *row_of(const struct call *call, const struct flow_target *target, int index)
{
	char words[WORDS_BYTES];
	const struct flow_bins *bins = &target->bins[index];
	const char *reason = withheld(call, target, index);
	bool is_known = reason == NULL;
	json_t *row = json_object();
	put_text(row, "target", address_words(words, target->address));
	put_text(row, "place", call->places[target->place]);
	put_known(row, "bin_ns", true, flow_bin_ns[index]);
	put_known(row, "packets", true, (int64_t)target->packets);
	put_known(row, "bytes", true, (int64_t)target->bytes);
	put_rate(row, "mean_bps", true, mean_bps(target));
	put_rate(row, "peak_bps", is_known, rate_bps(bins->peak_bytes, (double)flow_bin_ns[index]));
	put_known(row, "peak_ns", is_known, bins->peak_ns);
	put_known(row, "peak_first_packet", is_known, (int64_t)bins->peak_first);
	put_known(row, "peak_last_packet", is_known, (int64_t)bins->peak_last);
	put_rate(row, "burst_share", is_known, flow_burst_share(target, index));
	bool has_senders = is_known && bins->senders_most > 0;
	put_known(row, "senders_max", is_known, bins->senders_most);
	put_known(row, "senders_ns", has_senders, bins->senders_ns);
	put_known(row, "senders_first_packet", has_senders, (int64_t)bins->senders_first);
	put_known(row, "senders_last_packet", has_senders, (int64_t)bins->senders_last);
	put_text(row, "withheld", reason);
	return row;
}

json_t *bursts_blank(const struct call *call)
{
	return row_of(call, &(struct flow_target){0}, 0);
}

json_t *bursts_json(const struct call *call)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < call->report->target_count; i++)
		for (int k = 0; k < FLOW_BINS; k++)
			json_array_append_new(list, row_of(call, &call->report->targets[i], k));
	return list;
}

// ---------------------------------------------------------------- text

static void print_bins(FILE *to, const struct call *call, const struct flow_target *target,
		       int index)
{
	const struct flow_bins *bins = &target->bins[index];
	const char *reason = withheld(call, target, index);
	char width[WORDS_BYTES], after[WORDS_BYTES];
	time_words(width, flow_bin_ns[index]);
	if (reason != NULL) {
		fprintf(to, "      bins of %s are withheld: %s\n", width, reason);
		return;
	}
	fprintf(to,
		"      bins of %s: %.3g Gb/s in the fullest (packets %" PRIu64 " to %" PRIu64 ")",
		width, rate_bps(bins->peak_bytes, (double)flow_bin_ns[index]) / 1e9,
		bins->peak_first, bins->peak_last);
	double share = flow_burst_share(target, index);
	if (share >= 0)
		fprintf(to, ", %.0f %% of the bytes in bursts", 100 * share);
	if (bins->senders_most > 0)
		fprintf(to,
			", %s%" PRIu32 " sender%s at a time at most (packets %" PRIu64
			" to %" PRIu64 ", %s after the first frame)",
			target->is_crowded ? "at least " : "", bins->senders_most,
			bins->senders_most == 1 ? "" : "s", bins->senders_first, bins->senders_last,
			time_words(after, bins->senders_ns - call->report->totals.first_ns));
	fputc('\n', to);
}

void bursts_print(FILE *to, const struct call *call)
{
	const struct flow_report *report = call->report;
	fprintf(to, "\ndestinations by time\n");
	for (uint32_t i = 0; i < report->target_count; i++) {
		const struct flow_target *target = &report->targets[i];
		char words[WORDS_BYTES];
		fprintf(to, "  %s%s%s, %" PRIu64 " packets, %" PRIu64 " B",
			address_words(words, target->address),
			call->places[target->place][0] != '\0' ? ", seen at " : "",
			call->places[target->place], target->packets, target->bytes);
		if (mean_bps(target) >= 0)
			fprintf(to, ", %.3g Gb/s in the mean", mean_bps(target) / 1e9);
		fputc('\n', to);
		for (int k = 0; k < FLOW_BINS; k++)
			print_bins(to, call, target, k);
	}
	if (report->targets_left_out > 0)
		fprintf(to, "  no room for the destinations of %" PRIu64 " packets\n",
			report->targets_left_out);
}

// In bins of 10 us, unless stamps are too coarse for them: in 100 us senders may well follow one
// another.
static const struct flow_target *incast(const struct call *call, int *ret_index)
{
	const struct flow_target *worst = NULL;
	for (uint32_t i = 0; i < call->report->target_count; i++) {
		const struct flow_target *target = &call->report->targets[i];
		int index = withheld(call, target, 1) == NULL ? 1 : 2;
		uint32_t senders = target->bins[index].senders_most;
		if (senders < MEETING_MIN || withheld(call, target, index) != NULL)
			continue;
		if (worst == NULL || senders > worst->bins[*ret_index].senders_most) {
			worst = target;
			*ret_index = index;
		}
	}
	return worst;
}

void bursts_say(FILE *to, const struct call *call)
{
	int index;
	const struct flow_target *target = incast(call, &index);
	if (target == NULL)
		return;
	const struct flow_bins *bins = &target->bins[index];
	char words[WORDS_BYTES], width[WORDS_BYTES], after[WORDS_BYTES];
	fprintf(to,
		"incast: %s%" PRIu32 " senders to %s within %s (packets %" PRIu64 " to %" PRIu64
		", %s after the first frame)\n",
		target->is_crowded ? "at least " : "", bins->senders_most,
		address_words(words, target->address), time_words(width, flow_bin_ns[index]),
		bins->senders_first, bins->senders_last,
		time_words(after, bins->senders_ns - call->report->totals.first_ns));
}
