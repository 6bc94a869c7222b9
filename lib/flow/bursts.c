// SPDX-License-Identifier: Apache-2.0
// Traffic to each destination in bins of 1, 10 and 100 us: the fullest one, how much came in
// bursts, and how many senders met in one. Bins of 1 us fill those of 10, and these those of 100,
// so that a packet is counted once.

#include <string.h>

#include "bursts.h"

#define FNV_PRIME UINT64_C(0x100000001b3)
#define SHARED_PART 4	 // a quarter of the packets have the stamp of the one before
#define SHARED_STEPS 5	 // a bin of fewer such stamps says little
#define FEW_PARTS 100	 // one packet in so many may be out of order
#define BURST_MEANS 2	 // a bin with so many times the mean is of a burst
#define MEAN_BINS_MIN 10 // a shorter time has no mean

#define BIN_NS_0 1000
#define BIN_NS_1 10000
#define BIN_NS_2 100000

const int64_t flow_bin_ns[FLOW_BINS] = {BIN_NS_0, BIN_NS_1, BIN_NS_2};

// ---------------------------------------------------------------- who

static uint64_t address_hash(const uint8_t address[16], uint64_t seed)
{
	uint64_t half[2];
	memcpy(half, address, sizeof(half));
	uint64_t hash = ((half[0] ^ seed) * FNV_PRIME ^ half[1]) * FNV_PRIME;
	return hash ^ hash >> 29;
}

// Index + 1, or 0: the table is full.
static uint32_t target_of(struct flow *flow, const struct flow_stream *stream)
{
	struct flow_report *report = &flow->report;
	uint64_t at = address_hash(stream->target, stream->place);
	for (;; at++) {
		uint32_t *slot = &flow->target_slots[at & flow->target_mask];
		if (*slot == 0 && report->target_count == flow->config.targets_max)
			return 0;
		if (*slot == 0) {
			struct flow_target *target = &report->targets[report->target_count++];
			memcpy(target->address, stream->target, sizeof(target->address));
			target->place = stream->place;
			*slot = report->target_count;
		}
		const struct flow_target *target = &report->targets[*slot - 1];
		if (target->place == stream->place &&
		    memcmp(target->address, stream->target, sizeof(target->address)) == 0)
			return *slot;
	}
}

// The bit of a sender; those past the last one share it.
static uint8_t sender_of(struct flow_target *target, struct target_state *state,
			 const uint8_t source[16])
{
	uint64_t hash = address_hash(source, 0);
	for (uint32_t i = 0; i < target->senders; i++)
		if (state->senders[i] == hash)
			return (uint8_t)i;
	if (target->senders == FLOW_SENDERS) {
		target->is_crowded = true;
		return FLOW_SENDERS - 1;
	}
	state->senders[target->senders] = hash;
	return (uint8_t)target->senders++;
}

void bursts_meet(struct flow *flow, const struct flow_stream *stream)
{
	struct stream_state *state = stream_state(flow, stream);
	state->target = target_of(flow, stream);
	if (state->target != 0)
		state->sender = sender_of(&flow->report.targets[state->target - 1],
					  &flow->targets[state->target - 1], stream->source);
}

// ---------------------------------------------------------------- bins

// Four steps for each doubling.
static uint32_t size_of(uint64_t bytes)
{
	uint32_t log = 63u - (uint32_t)__builtin_clzll(bytes | 4);
	uint32_t size = 4 * log + (uint32_t)(bytes >> (log - 2) & 3);
	return size < FLOW_BIN_SIZES ? size : FLOW_BIN_SIZES - 1;
}

static double least_of(uint32_t size)
{
	return (double)(UINT64_C(4) + size % 4) * (double)(UINT64_C(1) << (size / 4)) / 4;
}

static void close_bin(struct flow_target *target, struct target_state *state, int index)
{
	struct open_bin *bin = &state->open[index];
	struct flow_bins *bins = &target->bins[index];
	if (bin->bytes == 0)
		return;
	uint32_t senders = 0;
	for (int i = 0; i < FLOW_SENDERS / 64; i++)
		for (uint64_t bits = bin->senders[i]; bits != 0; bits &= bits - 1)
			senders++;
	bins->bytes_by_size[size_of(bin->bytes)] += bin->bytes;
	if (bin->bytes > bins->peak_bytes) {
		bins->peak_bytes = bin->bytes;
		bins->peak_ns = bin->first_ns;
		bins->peak_first = bin->first;
		bins->peak_last = bin->last;
	}
	if (senders > bins->senders_most) {
		bins->senders_most = senders;
		bins->senders_ns = bin->first_ns;
		bins->senders_first = bin->first;
		bins->senders_last = bin->last;
	}
	if (index + 1 < FLOW_BINS) {
		struct open_bin *wider = &state->open[index + 1];
		wider->first_ns = wider->bytes == 0 ? bin->first_ns : wider->first_ns;
		wider->first = wider->bytes == 0 ? bin->first : wider->first;
		wider->last = bin->last;
		wider->bytes += bin->bytes;
		for (int i = 0; i < FLOW_SENDERS / 64; i++)
			wider->senders[i] |= bin->senders[i];
	}
	memset(bin, 0, sizeof(*bin));
}

static bool is_in(const struct open_bin *bin, int index, int64_t at_ns)
{
	return (uint64_t)at_ns - (uint64_t)bin->begin_ns < (uint64_t)flow_bin_ns[index];
}

// When the bin of a time begins; a division by a constant is cheap.
static int64_t begin_of(int64_t at_ns, int index)
{
	int64_t behind_ns = index == 0 ? at_ns % BIN_NS_0
		: index == 1	       ? at_ns % BIN_NS_1
				       : at_ns % BIN_NS_2;
	return at_ns - behind_ns - (behind_ns < 0 ? flow_bin_ns[index] : 0);
}

// Another bin of 1 us. What comes too late for its own counts with those of now, but for a clock
// that was set back.
static void move_on(struct flow_target *target, struct target_state *state, int64_t at_ns)
{
	const struct open_bin *widest = &state->open[FLOW_BINS - 1];
	bool is_back = target->packets > 1 && at_ns < state->open[0].begin_ns;
	for (int i = 0; is_back && i < FLOW_BINS && !is_in(&state->open[i], i, at_ns); i++)
		target->bins[i].strays++;
	if (is_back && (uint64_t)widest->begin_ns - (uint64_t)at_ns < (uint64_t)flow_bin_ns[2])
		return;
	for (int i = 0; i < FLOW_BINS; i++) {
		if (target->packets > 1 && is_in(&state->open[i], i, at_ns))
			break;
		close_bin(target, state, i);
		state->open[i].begin_ns = begin_of(at_ns, i);
	}
}

// Two packets of one cable cannot have one stamp, unless that is coarse, or of a burst. `plane` is
// that of the packet (MRC), whose cable is another one.
static void take_stamp(struct flow_target *target, struct target_state *state,
		       const struct flow_packet *packet, int32_t plane)
{
	int64_t at_ns = packet->at_ns;
	uint64_t cable = UINT64_C(1) << ((uint32_t)plane & 63);
	if (target->packets == 1) {
		target->first_ns = target->last_ns = at_ns;
	} else if (at_ns > state->last_ns) {
		uint64_t gap_ns = (uint64_t)at_ns - (uint64_t)state->last_ns;
		target->gaps[63 - __builtin_clzll(gap_ns)]++;
	} else if (at_ns == state->last_ns) {
		target->same_stamp += (state->last_cables & cable) != 0;
		cable |= state->last_cables;
	}
	target->first_ns = at_ns < target->first_ns ? at_ns : target->first_ns;
	target->last_ns = at_ns > target->last_ns ? at_ns : target->last_ns;
	state->last_ns = at_ns;
	state->last_cables = cable;
}

void bursts_take(struct flow *flow, const struct flow_stream *stream,
		 const struct flow_packet *packet, bool is_data)
{
	const struct stream_state *way = stream_state(flow, stream);
	uint32_t index = way->target, sender = way->sender;
	if (index == 0) {
		flow->report.targets_left_out++;
		return;
	}
	struct flow_target *target = &flow->report.targets[index - 1];
	struct target_state *state = &flow->targets[index - 1];
	if (!packet->has_time) {
		target->untimed++;
		return;
	}
	target->packets++;
	target->bytes += packet->record->original;
	take_stamp(target, state, packet,
		   packet->record->found == WIRE_FOUND_MRC ? flow->plane : 0);
	struct open_bin *bin = &state->open[0];
	if (target->packets == 1 || !is_in(bin, 0, packet->at_ns))
		move_on(target, state, packet->at_ns);
	if (bin->bytes == 0) {
		bin->first_ns = packet->at_ns;
		bin->first = packet->number;
	}
	bin->last = packet->number;
	bin->bytes += packet->record->original;
	bin->senders[sender / 64] |= (uint64_t)is_data << sender % 64;
}

void bursts_end(struct flow *flow)
{
	for (uint32_t k = 0; k < flow->report.target_count; k++)
		for (int i = 0; i < FLOW_BINS; i++)
			close_bin(&flow->report.targets[k], &flow->targets[k], i);
}

// ---------------------------------------------------------------- what may be said

// From one stamp to the next other one, in the middle; rounded up to a power of two.
static double step_of(const struct flow_target *target)
{
	uint64_t sum = 0, below = 0;
	for (int i = 0; i < FLOW_GAPS; i++)
		sum += target->gaps[i];
	for (int i = 0; i < FLOW_GAPS; i++) {
		below += target->gaps[i];
		if (2 * below >= sum)
			return 2.0 * (double)(UINT64_C(1) << i);
	}
	return 0;
}

enum flow_bins_state flow_bins_state(const struct flow_report *report,
				     const struct flow_target *target, int index)
{
	double width_ns = (double)flow_bin_ns[index], step_ns = step_of(target);
	double granularity_ns = report->totals.granularity_ns;
	if (target->untimed > 0 || target->packets == 0)
		return FLOW_BINS_UNTIMED;
	if (granularity_ns > width_ns)
		return FLOW_BINS_COARSE;
	bool is_shared = target->same_stamp * SHARED_PART > target->packets &&
		(step_ns == 0 || step_ns > 1.5 * granularity_ns);
	if (is_shared && (step_ns == 0 || SHARED_STEPS * step_ns > width_ns))
		return FLOW_BINS_SHARED;
	if (target->bins[index].strays * FEW_PARTS > target->packets)
		return FLOW_BINS_BACKWARD;
	return FLOW_BINS_TOLD;
}

const char *flow_bins_reason(enum flow_bins_state state)
{
	static const char *const reasons[] = {
		[FLOW_BINS_TOLD] = NULL,
		[FLOW_BINS_UNTIMED] = "frames without a time",
		[FLOW_BINS_COARSE] = "stamps are coarser",
		[FLOW_BINS_SHARED] = "bursts share their stamps, and these are as far apart",
		[FLOW_BINS_BACKWARD] = "stamps go back by more",
	};
	return reasons[state];
}

double flow_burst_share(const struct flow_target *target, int index)
{
	double span_ns = (double)target->last_ns - (double)target->first_ns;
	if (span_ns < MEAN_BINS_MIN * (double)flow_bin_ns[index])
		return -1;
	double mean = (double)target->bytes * (double)flow_bin_ns[index] / span_ns, in = 0;
	for (uint32_t i = 0; i < FLOW_BIN_SIZES; i++)
		if (least_of(i) >= BURST_MEANS * mean)
			in += (double)target->bins[index].bytes_by_size[i];
	return in / (double)target->bytes;
}
