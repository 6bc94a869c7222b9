// SPDX-License-Identifier: Apache-2.0
// The ten lines: what happened, in what, to whom, how it is known, what it is not, where to look.

#include <inttypes.h>
#include <string.h>

#include "analyze/lists.h"
#include "analyze/story.h"

struct out {
	FILE *to;
	const struct call *call;
	const struct flow_report *report;
	struct story *story;
};

// "1,200", in one of a few buffers, so that a line can have several.
static const char *n(uint64_t count)
{
	static char buffers[8][WORDS_BYTES];
	static unsigned at;
	return count_words(buffers[at++ % 8], count);
}

static const char *s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

// "once", "twice", "3 times".
static const char *times(uint64_t count)
{
	static char buffers[4][WORDS_BYTES + 8];
	static unsigned at;
	char words[WORDS_BYTES], *ret = buffers[at++ % 4];
	if (count == 1)
		return "once";
	if (count == 2)
		return "twice";
	snprintf(ret, sizeof(buffers[0]), "%s times", count_words(words, count));
	return ret;
}

static const char *range(int64_t from_ns, int64_t to_ns)
{
	static char buffers[4][WORDS_BYTES];
	static unsigned at;
	return range_words(buffers[at++ % 4], from_ns, to_ns);
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole == 0 ? 0 : 100 * (double)part / (double)whole;
}

// ---------------------------------------------------------------- what happened

static bool is_mrc(const struct out *out)
{
	return out->report->totals.found[WIRE_FOUND_MRC] > 0;
}

static bool is_one_way(const struct story *story)
{
	return story->one_way > 0 && story->connections == 0;
}

// No data passed: what was asked for once more is known, and not what became of it.
static bool has_answers_alone(const struct story *story)
{
	return story->data == 0 &&
		story->acks + story->naks + story->rnrs + story->sacks + story->nacks > 0;
}

static void say_answers_alone(const struct out *out)
{
	uint64_t asked = out->story->naks + out->story->rnrs + out->story->nacks;
	if (asked == 0)
		fprintf(out->to, "no fault found in answers, which alone passed here\n");
	else
		fprintf(out->to,
			"answers alone passed here: %s ask%s for packets that were lost, overtaken "
			"or refused; where, these would tell\n",
			n(asked), asked == 1 ? "s" : "");
}

static void say_headline(const struct out *out)
{
	const struct story *story = out->story;
	if (story->cause_count == 0 && has_answers_alone(story)) {
		say_answers_alone(out);
		return;
	}
	if (story->cause_count == 0) {
		fprintf(out->to, "no fault found%s%s\n",
			out->report->partial_streams > 0
				? " on the paths that pass here"
				: ": nothing lost, retransmitted, doubled or out of order",
			is_one_way(story) ? ", as far as one direction tells" : "");
		return;
	}
	bool is_repeated = story->again > story->doubled || story->rtx > 0;
	const char *around[2];
	if (points_around(out->call, around))
		fprintf(out->to, "loss BETWEEN the capture points %s and %s", around[0], around[1]);
	else
		fprintf(out->to, "%s", cause_words(story->order[0]));
	fprintf(out->to, "%s%s; %s",
		!is_repeated	      ? ""
			: is_mrc(out) ? ", repaired by selective repeat"
				      : ", repaired by go-back-N",
		is_one_way(story) ? ", as far as one direction tells" : "",
		certainty_word(story->certainty));
	points_say_count(out->to, out->call);
	fputc('\n', out->to);
}

static void say_icrc(const struct out *out)
{
	const struct flow_totals *totals = &out->report->totals;
	uint64_t good = totals->icrc[WIRE_ICRC_GOOD], bad = totals->icrc[WIRE_ICRC_BAD];
	uint64_t other = totals->icrc[WIRE_ICRC_UNKNOWN] + totals->icrc[WIRE_ICRC_ABSENT];
	if (bad > 0)
		fprintf(out->to, ", ICRC bad in %s (first: packet %" PRIu64 ")", n(bad),
			totals->first_bad_icrc);
	else if (good > 0 && other == 0)
		fprintf(out->to, ", ICRC good in all");
	else if (good > 0)
		fprintf(out->to, ", ICRC good in all %s that have it whole", n(good));
	else
		fprintf(out->to, ", no ICRC can be checked");
}

static void say_who(const struct out *out)
{
	const struct flow_stream *largest = out->story->largest;
	static const char *const transports[8] = {"RC", "UC", "RD", "UD", "CNP", "XRC", "", ""};
	char source[WORDS_BYTES], target[WORDS_BYTES];
	uint64_t count = out->story->connections + out->story->one_way;
	if (largest == NULL)
		return;
	bool is_rc = largest->found != WIRE_FOUND_MRC;
	fprintf(out->to, "; %s%s%s, ", wire_found_name(largest->found), is_rc ? " " : "",
		is_rc ? transports[largest->transport & 7] : "");
	if (count == 1)
		fprintf(out->to, "one connection, ");
	else
		fprintf(out->to, "%s directions with data, the largest ", n(count));
	fprintf(out->to, "QP 0x%" PRIx32 ", %s > %s", largest->qpn,
		address_words(source, largest->source), address_words(target, largest->target));
}

static void say_capture(const struct out *out)
{
	const struct flow_totals *totals = &out->report->totals;
	char span[WORDS_BYTES];
	fprintf(out->to, "%s frame%s in %s, ", n(totals->frames), s(totals->frames),
		time_words(span, totals->last_ns - totals->first_ns));
	if (totals->cut == 0)
		fprintf(out->to, "none cut");
	else
		fprintf(out->to, "%s cut", n(totals->cut));
	say_icrc(out);
	say_who(out);
	fputc('\n', out->to);
}

// ---------------------------------------------------------------- messages

static const char *operation_words(const struct story *story)
{
	uint64_t sum = story->writes + story->sends + story->reads + story->atomics;
	if (sum == story->writes)
		return "write";
	if (sum == story->sends)
		return "send";
	if (sum == story->reads)
		return "read";
	return sum == story->atomics ? "atomic" : "message";
}

static void say_messages(const struct out *out)
{
	const struct story *story = out->story;
	struct flow_lags messages = out->report->messages;
	char size[WORDS_BYTES], most[WORDS_BYTES], median[WORDS_BYTES];
	if (story->datagrams > 0 && story->begun == 0) {
		fprintf(out->to, "%s datagrams, which nothing acknowledges\n", n(story->datagrams));
		return;
	}
	fprintf(out->to, "%s %s%s", n(story->begun), operation_words(story), s(story->begun));
	if (story->sizes > 0 && story->size_min == story->size_max && story->size_max > 0)
		fprintf(out->to, " of %s", bytes_words(size, story->size_max));
	else if (story->sizes > 0 && story->size_max > 0)
		fprintf(out->to, " of %s to %s", bytes_words(size, story->size_min),
			bytes_words(most, story->size_max));
	fprintf(out->to, " begun");
	if (messages.count == 0)
		fprintf(out->to, ", none seen from its first packet to its acknowledgement\n");
	else
		fprintf(out->to, ", %s acknowledged after %s, median %s\n", n(messages.count),
			range(messages.min_ns, messages.max_ns),
			time_words(median, flow_quantile(&messages, 0.5)));
}

// ---------------------------------------------------------------- how it is known

static void say_naks(const struct out *out)
{
	const struct story *story = out->story;
	const struct flow_totals *totals = &out->report->totals;
	if (is_mrc(out)) {
		fprintf(out->to, "%s SACK%s, %s NACK%s; %s trimmed packet%s passed here\n",
			n(story->sacks), s(story->sacks), n(story->nacks), s(story->nacks),
			n(story->trims), s(story->trims));
		return;
	}
	if (story->naks + story->rnrs == 0) {
		fprintf(out->to, "no NAK, no RNR; %s ACK%s\n", n(story->acks), s(story->acks));
		return;
	}
	if (story->rnrs > 0)
		fprintf(out->to, "%s RNR NAK%s%s", n(story->rnrs), s(story->rnrs),
			story->naks > 0 ? "; " : "\n");
	if (story->naks == 0)
		return;
	fprintf(out->to, "%s NAK%s%s", n(story->naks), s(story->naks),
		totals->nak_codes[0] == totals->nak ? " (PSN sequence error)" : "");
	if (story->passed.count == 0 && has_answers_alone(story)) {
		fprintf(out->to, "; what %s for does not pass here\n",
			story->naks == 1 ? "it asks" : "they ask");
		return;
	}
	if (story->passed.count == 0) {
		fprintf(out->to,
			story->naks == 1 ? "; its PSN had not passed here in its turn\n"
					 : "; none of their PSNs had passed here in its turn\n");
		return;
	}
	if (story->nak_behind == story->nak_repairs && story->nak_behind == 1)
		fprintf(out->to, "; its PSN had passed here %s before the NAK\n",
			range(story->passed.min_ns, story->passed.max_ns));
	else if (story->nak_behind == story->nak_repairs)
		fprintf(out->to, "; all %s PSNs had passed here %s before the NAK\n",
			n(story->nak_behind), range(story->passed.min_ns, story->passed.max_ns));
	else
		fprintf(out->to, "; the PSNs of %s of %s had passed here, %s before the NAK\n",
			n(story->nak_behind), n(story->nak_repairs),
			range(story->passed.min_ns, story->passed.max_ns));
}

static void say_order(const struct out *out)
{
	const struct story *story = out->story;
	if (is_mrc(out)) {
		fprintf(out->to,
			"%s packets were overtaken, by %s PSNs at most (paths differ: no fault)\n",
			n(story->late), n(story->late_distance_max));
		return;
	}
	if (story->holes == 0)
		fprintf(out->to, "no hole before the tap, ");
	else
		fprintf(out->to, "%s PSN%s stepped over before the tap, ", n(story->holes),
			s(story->holes));
	uint64_t unread = out->report->unread_taken;
	if (unread > 0)
		fprintf(out->to, "%s frame%s not read (no loss: the file has %s), ", n(unread),
			s(unread), unread == 1 ? "it" : "them");
	if (story->late == 0)
		fprintf(out->to, "nothing out of order, ");
	else
		fprintf(out->to, "%s out of order (by %s PSN%s at most), ", n(story->late),
			n(story->late_distance_max), s(story->late_distance_max));
	const uint64_t *causes = out->report->causes;
	uint64_t gone = causes[FLOW_GONE_BEFORE], either = causes[FLOW_COPY_OR_LATE];
	if (gone > 0)
		fprintf(out->to, "%s lost or out of order, ", n(gone));
	if (either > 0)
		fprintf(out->to, "%s doubled or out of order, ", n(either));
	if (story->doubled == 0)
		fprintf(out->to, "nothing%s doubled", gone + either > 0 ? " else" : "");
	else
		fprintf(out->to, "%s doubled by the network", n(story->doubled));
	if (story->has_ids)
		fprintf(out->to,
			story->doubled == 0 ? " (no PSN twice with one IP identification)\n"
					    : " (same IP identification)\n");
	else
		fprintf(out->to, " (IP identifications tell nothing here: by order and time)\n");
}

// Planes that are not tapped.
static void say_partial(const struct out *out)
{
	const struct flow_report *report = out->report;
	if (report->partial_streams == 0)
		return;
	fprintf(out->to,
		"%.0f %% of the acknowledged PSNs of %s direction%s passed here: the tap sees a "
		"part of "
		"their planes, so losses before it are withheld\n",
		percent(report->partial_acked - report->partial_unseen, report->partial_acked),
		n(report->partial_streams), s(report->partial_streams));
}

static void say_again(const struct out *out)
{
	const struct story *story = out->story;
	uint64_t again = story->again - story->doubled;
	if (again == 0) {
		fprintf(out->to, "none of %s data packets (%.4g MB of payload) was retransmitted\n",
			n(story->data), (double)story->data_bytes / 1e6);
		return;
	}
	fprintf(out->to,
		"%s of %s data packets (%.0f %% of their bytes) were retransmitted; %s are new\n",
		n(again), n(story->data), percent(story->again_bytes, story->data_bytes),
		n(story->data - story->again));
}

static void say_losses(const struct out *out)
{
	const uint64_t *causes = out->report->causes;
	const struct story *story = out->story;
	uint64_t behind = causes[FLOW_LOSS_BEHIND], before = causes[FLOW_LOSS_BEFORE];
	if (behind > 0 && story_is_unchecked(out->report))
		fprintf(out->to,
			"frames are cut, so that packets damaged before the tap read as lost "
			"behind it\n");
	if (behind > 0 && before > 0)
		fprintf(out->to, "%s losses before the tap, at least %s behind it\n", n(before),
			n(behind));
	else if (behind > 0)
		fprintf(out->to, "at least %s loss%s%s\n", n(behind), behind == 1 ? "" : "es",
			is_mrc(out) ? ""
				    : ": what is lost while the receiver discards leaves no trace");
	else if (before > 0)
		fprintf(out->to,
			"%s packet%s lost before the tap, counted by the PSNs stepped over\n",
			n(before), s(before));
	else if (causes[FLOW_GONE_BEFORE] > 0)
		fprintf(out->to, "%s packet%s lost before the tap, or overtaken\n",
			n(causes[FLOW_GONE_BEFORE]), s(causes[FLOW_GONE_BEFORE]));
	else if (story->cause_count > 1)
		fprintf(out->to, "no packet lost\n");
	else
		fprintf(out->to, "no packet lost, as far as this capture point sees\n");
}

static void say_repair(const struct out *out)
{
	const struct story *story = out->story;
	FILE *to = out->to;
	char span[WORDS_BYTES];
	if (is_mrc(out)) {
		struct flow_lags lags = out->report->trim_to_rtx;
		if (lags.count > 0)
			fprintf(to, "trim to repeat: %s, %s\n", range(lags.min_ns, lags.max_ns),
				times(lags.count));
		else if (story->rtx > 0)
			fprintf(to, "%s packet%s the mark of a repeat (RTX)\n", n(story->rtx),
				story->rtx == 1 ? " carries" : "s carry");
		if (out->report->silence_ns > 0)
			fprintf(to,
				"no SACK passed for %s while what had come was retransmitted: a "
				"receiver that stood still, or SACKs that were held up or lost\n",
				time_words(span, out->report->silence_ns));
		return;
	}
	if (story->nak_repairs + story->timers == 0)
		return;
	if (story->nak_repairs == 0) {
		fprintf(to, "%s repeat%s by a timer, none asked for by a NAK\n", n(story->timers),
			s(story->timers));
		return;
	}
	fprintf(to, "NAK to repeat: ");
	if (story->repeats > 0)
		fprintf(to, "%s %s", range(story->repeat_min_ns, story->repeat_max_ns),
			times(story->repeats));
	if (story->timer_after_nak > 0)
		fprintf(to, "%s%s %s, after silence of %s: a timer", story->repeats > 0 ? "; " : "",
			range(story->timer_repeat_min_ns, story->timer_repeat_max_ns),
			times(story->timer_after_nak),
			range(story->timer_silence_min_ns, story->timer_silence_max_ns));
	if (story->nak_open > 0)
		fprintf(to, "%s%s open", story->repeats + story->timer_after_nak > 0 ? "; " : "",
			n(story->nak_open));
	if (story->timers > 0)
		fprintf(to, "; %s repeat%s by a timer alone", n(story->timers), s(story->timers));
	fputc('\n', to);
}

// ---------------------------------------------------------------- what it is not, and where to
// look

static void say_not(const struct out *out)
{
	const struct flow_totals *totals = &out->report->totals;
	const struct story *story = out->story;
	uint64_t ce = totals->ecn[3], ect = totals->ecn[1] + totals->ecn[2];
	if (ce + story->cnps + totals->pauses == 0) {
		fprintf(out->to, "not it: %sno CE, no CNP, no pause\n", ect == 0 ? "no ECT, " : "");
		return;
	}
	fprintf(out->to,
		"beside it: %s CE of %s packets that can be marked (%.1f %%), %s CNP%s, %s "
		"pause%s\n",
		n(ce), n(ce + ect), percent(ce, ce + ect), n(story->cnps), s(story->cnps),
		n(totals->pauses), s(totals->pauses));
}

// Where it may be why: something was marked, trimmed or lost.
static void say_incast(const struct out *out)
{
	const uint64_t *causes = out->report->causes;
	uint64_t harm = out->report->totals.ecn[3] + out->story->cnps + out->story->trims +
		causes[FLOW_LOSS_BEFORE] + causes[FLOW_LOSS_BEHIND] + causes[FLOW_TRIM_BEHIND];
	if (harm > 0)
		bursts_say(out->to, out->call);
}

static void say_others(const struct out *out)
{
	const struct story *story = out->story;
	for (uint32_t i = 1; i < story->cause_count; i++)
		fprintf(out->to, "%s%s: %s", i == 1 ? "also: " : "; ", cause_words(story->order[i]),
			n(out->report->causes[story->order[i]]));
	if (story->cause_count > 1)
		fputc('\n', out->to);
}

static void say_advice(const struct out *out)
{
	const char *around[2];
	if (out->story->cause_count == 0)
		return;
	if (points_around(out->call, around))
		fprintf(out->to, "look at: the path from %s to %s\n", around[0], around[1]);
	else
		fprintf(out->to, "look at: %s\n", cause_advice(out->story->order[0]));
}

// ---------------------------------------------------------------- the capture itself

// Why the file was not read to its end, if it was not.
static void say_end(FILE *to, const struct capture_file *file, const char *lead, const char *name)
{
	if (file->end == CAPTURE_WHOLE && file->why[0] == '\0')
		return;
	fprintf(to, "%s%s: %s", lead, name, file->why);
	if (file->frames > 0)
		fprintf(to, "; %s frame%s before it %s good", n(file->frames), s(file->frames),
			file->frames == 1 ? "is" : "are");
	fputc('\n', to);
}

// Sections and blocks whose lengths contradict what is there.
static void say_lengths(FILE *to, const struct capture_file *file, const char *lead,
			const char *name)
{
	if (file->odd_sections > 0)
		fprintf(to,
			"%s%s: %s section%s not as long as %s, the first at byte %" PRIu64
			": read on block by block\n",
			lead, name, n(file->odd_sections),
			file->odd_sections == 1 ? " is" : "s are",
			file->odd_sections == 1 ? "it says" : "they say", file->odd_section_at);
	if (file->odd_blocks > 0)
		fprintf(to,
			"%s%s: %s block%s with options beyond the end or of a wrong length, or too "
			"short, the first at byte %" PRIu64 ": the rest of it is left out\n",
			lead, name, n(file->odd_blocks), s(file->odd_blocks), file->odd_block_at);
}

void files_print(FILE *to, const struct call *call, const char *lead)
{
	for (uint32_t i = 0; i < call->count; i++) {
		const struct capture_file *file = &call->files[i];
		const char *name = file_name(file);
		say_end(to, file, lead, name);
		if (file->odd_frames > 0)
			fprintf(to,
				"%s%s: %s frame%s left out, the first at byte %" PRIu64
				": lengths beyond the block, or an unknown interface\n",
				lead, name, n(file->odd_frames), s(file->odd_frames), file->odd_at);
		say_lengths(to, file, lead, name);
		if (file->odd_stamps > 0)
			fprintf(to,
				"%s%s: %s stamp%s that no clock makes, the first at byte %" PRIu64
				": units too small, a fraction of a second or more, or a time "
				"beyond "
				"the year 2262\n",
				lead, name, n(file->odd_stamps), s(file->odd_stamps),
				file->odd_stamp_at);
	}
}

static void say_files(const struct out *out)
{
	files_print(out->to, out->call, "");
	if (out->story->dropped > 0)
		fprintf(out->to,
			"the capture dropped %s frames by its own count: a hole may be its\n",
			n(out->story->dropped));
}

// Who was paused, where pause frames are all that speaks of the fabric.
static void say_pauses(const struct out *out)
{
	const struct flow_totals *totals = &out->report->totals;
	if (totals->pauses + totals->resumes == 0)
		return;
	fprintf(out->to, "pause frames: %s pause%s, %s end one;", n(totals->pauses),
		s(totals->pauses), n(totals->resumes));
	for (uint32_t priority = 0; priority < 8; priority++)
		if (totals->pauses_by_priority[priority] > 0)
			fprintf(out->to, " priority %u: %s", priority,
				n(totals->pauses_by_priority[priority]));
	if (totals->pauses_by_priority[8] > 0)
		fprintf(out->to, " all priorities (802.3x): %s", n(totals->pauses_by_priority[8]));
	fprintf(out->to, "; whose port was paused is the other end of this cable\n");
}

// UET is counted by its packet types. Its connections are not followed: nothing is concluded.
static void say_uet(const struct out *out)
{
	const struct flow_totals *totals = &out->report->totals;
	fprintf(out->to,
		"UET in %s of %s frames, and no other RDMA: its packet types are counted, its "
		"connections are not followed, so nothing is said of loss or repair\n",
		n(totals->found[WIRE_FOUND_UET]), n(totals->frames));
	const char *between = "packet types: ";
	for (uint32_t type = 0; type < 256; type++) {
		const char *name = wire_opcode_name(WIRE_FOUND_UET, (uint8_t)type);
		if (totals->opcodes[WIRE_FOUND_UET][type] == 0)
			continue;
		if (name != NULL)
			fprintf(out->to, "%s%s %s", between, name,
				n(totals->opcodes[WIRE_FOUND_UET][type]));
		else
			fprintf(out->to, "%s0x%02x %s", between, type,
				n(totals->opcodes[WIRE_FOUND_UET][type]));
		between = ", ";
	}
	fputc('\n', out->to);
}

static void say_what_there_is(const struct out *out)
{
	const struct flow_totals *totals = &out->report->totals;
	if (totals->frames == 0) {
		fprintf(out->to,
			"no frame in the capture: its filter let none pass, or none came by\n");
		return;
	}
	fprintf(out->to, "no RDMA in %s frame%s. What there is:", n(totals->frames),
		s(totals->frames));
	const char *between = " ";
	for (int found = 0; found < WIRE_FOUND_COUNT; found++)
		if (totals->found[found] > 0) {
			fprintf(out->to, "%s%s %s", between, n(totals->found[found]),
				found == WIRE_FOUND_LINK ? "of an unknown link type"
							 : wire_found_name((enum wire_found)found));
			between = ", ";
		}
	fputc('\n', out->to);
}

static void say_nothing_found(const struct out *out)
{
	say_what_there_is(out);
	say_pauses(out);
	fprintf(out->to,
		"usual reasons: the NIC offloads RDMA past the kernel's tap (capture on the RDMA "
		"device, "
		"as tcpdump -i mlx5_0, or at a mirror port);\n"
		"  RDMA takes another port or VLAN than the one captured; or the traffic is not "
		"RDMA at "
		"all (NCCL falls back to TCP)\n");
}

// Where answers alone passed, no data were lost or in order.
static void say_connection(const struct out *out)
{
	bool has_data = !has_answers_alone(out->story);
	if (has_data)
		say_messages(out);
	say_naks(out);
	if (!has_data)
		return;
	say_order(out);
	say_again(out);
	say_losses(out);
	say_repair(out);
}

void summary_print(FILE *to, const struct call *call)
{
	static struct story story; // large: kept off the stack
	struct out out = {to, call, call->report, &story};
	const uint64_t *found = call->report->totals.found;
	story_make(&story, call);
	bool has_rdma = found[WIRE_FOUND_ROCE] + found[WIRE_FOUND_ROCE1] + found[WIRE_FOUND_MRC] +
			found[WIRE_FOUND_INFINIBAND] >
		0;
	if (!has_rdma && trust_of(call) != TRUST_CUT) {
		if (found[WIRE_FOUND_UET] > 0)
			say_uet(&out);
		else
			say_nothing_found(&out);
		say_files(&out);
		return;
	}
	enum trust trust = trust_of(call);
	if (trust == TRUST_ALL)
		say_headline(&out);
	else
		trust_headline(to, call, trust);
	say_capture(&out);
	if (trust != TRUST_ALL) {
		trust_advice(to, trust);
		say_files(&out);
		return;
	}
	trust_print(to, call);
	points_say(to, call);
	say_connection(&out);
	say_not(&out);
	say_incast(&out);
	changes_say(to, call);
	rules_say(to, call);
	say_partial(&out);
	say_others(&out);
	say_advice(&out);
	say_files(&out);
}
