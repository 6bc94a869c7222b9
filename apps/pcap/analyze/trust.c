// SPDX-License-Identifier: Apache-2.0
// Whether a capture can be trusted: frames that are cut before what matters, frames that the
// capture point doubles, stamps that are coarser than they look.

#include "pcap.h"

#define MERGED_LEAST 20
#define MERGED_PERCENT 90
#define COARSE_NS 10000 // microseconds are usual

static const char *n(uint64_t count)
{
	static char buffers[4][WORDS_BYTES];
	static unsigned at;
	return count_words(buffers[at++ % 4], count);
}

static const char *s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

// UDP that ends before a BTH could.
static uint64_t short_of(const struct flow_totals *totals)
{
	return totals->stopped[WIRE_SHORT_UDP] + totals->stopped[WIRE_SHORT_BTH];
}

// Data packets, and how many of them identifications call copies.
static uint64_t copies_of(const struct flow_report *report, uint64_t *ret_data)
{
	uint64_t doubled = 0;
	*ret_data = 0;
	for (uint32_t i = 0; i < report->stream_count; i++) {
		*ret_data += report->streams[i].data;
		doubled += report->streams[i].doubled;
	}
	return doubled;
}

// Nearly each packet twice, farther apart than copies of one capture point are: two captures with
// clocks apart lie in one file.
static bool is_merged(const struct flow_report *report)
{
	uint64_t data, doubled = copies_of(report, &data);
	return doubled >= MERGED_LEAST && 200 * doubled >= MERGED_PERCENT * data;
}

// What the network reorders has its stamps in order.
static bool has_other_order(const struct flow_report *report)
{
	return report->late_stamps > 0 &&
		2 * report->late_stamps >= report->causes[FLOW_REORDER_BEFORE] &&
		report->causes[FLOW_REORDER_BEFORE] > 0;
}

// A file that begins before the middle of an earlier one of its place: they are not in the order of
// time, or two captures of the same time. NULL: there is none.
static const struct capture_file *misplaced(const struct call *call,
					    const struct capture_file **ret_before)
{
	for (uint32_t i = 1; i < call->count; i++) {
		const struct capture_file *file = &call->files[i], *before = file - 1;
		while (before > call->files && (!before->has_times || before->place != file->place))
			before--;
		bool are_parts = file->has_times && before->has_times &&
			before->place == file->place;
		int64_t middle_ns = before->first_ns + (before->last_ns - before->first_ns) / 2;
		*ret_before = before;
		if (are_parts && file->first_ns < middle_ns)
			return file;
	}
	return NULL;
}

enum trust trust_of(const struct call *call)
{
	const struct capture_file *before;
	const struct flow_totals *totals = &call->report->totals;
	bool is_cut = totals->stopped[WIRE_SHORT_BTH] > 0 || 2 * short_of(totals) > totals->frames;
	if (is_cut && totals->bth == 0)
		return TRUST_CUT;
	if (copies_are_of_tap(&call->copies) || is_merged(call->report))
		return TRUST_COPIES;
	bool is_back = call->report->late_stamps > 0; // one stream is in both
	if (is_back && misplaced(call, &before) != NULL)
		return TRUST_FILES;
	return has_other_order(call->report) ? TRUST_ORDER : TRUST_ALL;
}

const char *trust_reason(enum trust trust)
{
	static const char *const reasons[] = {
		[TRUST_ALL] = NULL,
		[TRUST_CUT] = "frames end before the BTH",
		[TRUST_COPIES] = "the capture has nearly every frame twice",
		[TRUST_ORDER] = "the capture is not in the order of its stamps",
		[TRUST_FILES] = "the files are not in the order of time",
	};
	return reasons[trust];
}

static void files_headline(FILE *to, const struct call *call)
{
	const struct capture_file *before, *file = misplaced(call, &before);
	char time[WORDS_BYTES];
	fprintf(to, "the FILES are not in the order of time: %s begins %s before the end of %s\n",
		file_name(file), time_words(time, before->last_ns - file->first_ns),
		file_name(before));
}

void trust_headline(FILE *to, const struct call *call, enum trust trust)
{
	const struct flow_totals *totals = &call->report->totals;
	const struct copies *copies = &call->copies;
	char range[WORDS_BYTES];
	uint64_t data, doubled = copies_of(call->report, &data);
	if (trust == TRUST_CUT)
		fprintf(to, "nothing can be said: %s of %s frame%s end%s before the BTH\n",
			n(short_of(totals)), n(totals->frames), s(totals->frames),
			totals->frames == 1 ? "s" : "");
	else if (trust == TRUST_FILES)
		files_headline(to, call);
	else if (trust == TRUST_ORDER)
		fprintf(to,
			"the CAPTURE is not in the order of its stamps: %s packets stand behind "
			"later ones\n",
			n(call->report->late_stamps));
	else if (!copies_are_of_tap(copies))
		fprintf(to,
			"the CAPTURE has nearly every packet twice: %s of %s with data are copies, "
			"as of two captures in one file\n",
			n(doubled), n(data));
	else
		fprintf(to,
			"the CAPTURE has nearly every frame twice: %s of %s are copies, %s after "
			"the "
			"first\n",
			n(copies->pairs), n(copies->frames),
			range_words(range, copies->min_ns, copies->max_ns));
}

void trust_advice(FILE *to, enum trust trust)
{
	if (trust == TRUST_CUT)
		fprintf(to,
			"look at: the snap length of the capture; 128 bytes have all headers "
			"(tcpdump -s 128), more with tunnels\n");
	else if (trust == TRUST_FILES)
		fprintf(to,
			"withheld: what was lost, retransmitted or overtaken cannot be told so; "
			"name the parts of a capture in their order, and merge captures of one "
			"time (mergecap -w OUT FILE...)\n"
			"look at: file names as the shell sorts them; weft pcap diff A B for the "
			"two ends of a path\n");
	else if (trust == TRUST_ORDER)
		fprintf(to,
			"withheld: what was lost, retransmitted or overtaken cannot be told in "
			"another order; sort it (reordercap IN OUT) and analyze that\n"
			"look at: a capture of several queues or rings, files joined one behind "
			"the other\n");
	else
		fprintf(to,
			"withheld: what was lost, retransmitted or doubled cannot be told from the "
			"copies; "
			"take them out (editcap -d IN OUT) and analyze that\n"
			"look at: a mirror session that takes both directions of a port, or two "
			"ports of "
			"one way; a bond beside its members; `any` as the device\n");
}

static void print_cut(FILE *to, const uint64_t *stopped)
{
	uint64_t bth = stopped[WIRE_SHORT_BTH], behind = stopped[WIRE_SHORT_EXTENSION];
	if (bth > 0)
		fprintf(to, "%s frame%s end%s before the BTH and %s in nothing below\n", n(bth),
			s(bth), bth == 1 ? "s" : "", bth == 1 ? "is" : "are");
	if (behind > 0)
		fprintf(to,
			"%s end%s in the headers behind the BTH: what %s, sizes, NAKs, SACKs, is "
			"in "
			"nothing below\n",
			n(behind), behind == 1 ? "s" : "", behind == 1 ? "it says" : "they say");
}

// Packets to one NIC have one stamp, though they came over one cable.
static uint64_t same_stamps(const struct flow_report *report)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < report->target_count; i++)
		sum += report->targets[i].same_stamp;
	return sum;
}

static void print_stamps(FILE *to, const struct flow_report *report)
{
	const struct flow_totals *totals = &report->totals;
	uint64_t same = same_stamps(report);
	char step[WORDS_BYTES], back[WORDS_BYTES];
	bool is_burst = same * 4 > totals->frames;
	bool is_coarse = totals->granularity_ns >= COARSE_NS && totals->last_ns > totals->first_ns;
	if (totals->untimed > 0)
		fprintf(to, "%s frame%s without a time\n", n(totals->untimed), s(totals->untimed));
	if (totals->backward > 0)
		fprintf(to, "%s stamp%s earlier than the one before, by %s at most\n",
			n(totals->backward), totals->backward == 1 ? " is" : "s are",
			time_words(back, totals->backward_max_ns));
	if (is_coarse)
		fprintf(to, "stamps in steps of %s: no time below is finer\n",
			time_words(step, totals->granularity_ns));
	if (is_burst)
		fprintf(to,
			"%s of %s frames have the stamp of the one before on their cable, as of "
			"bursts: times below are between bursts\n",
			n(same), n(totals->frames));
}

// A capture that ended before what it listened to did has no holes for that.
static void print_left_out(FILE *to, const struct call *call)
{
	uint64_t left_out = 0;
	for (uint32_t i = 0; i < call->count; i++)
		left_out += call->files[i].left_out;
	if (left_out > 0)
		fprintf(to,
			"%s frame%s passed the capture point and %s not in the file, by its own "
			"count: it was full\n",
			n(left_out), s(left_out), left_out == 1 ? "is" : "are");
}

void trust_print(FILE *to, const struct call *call)
{
	print_left_out(to, call);
	print_cut(to, call->report->totals.stopped);
	print_stamps(to, call->report);
}
