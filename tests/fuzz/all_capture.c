// SPDX-License-Identifier: Apache-2.0
// Any bytes as a capture, packed by gzip or not: it is refused, or read to an end that is told;
// each frame is dissected, and what is made of all of them holds together. The first byte of an
// input chooses how much a read gives and how much memory there is, so that all of it runs out.
// First inputs: weft's own captures, and those that are given where they are.

#include "target.h"

#include <weft/capture/capture_gunzip.h>
#include <weft/flow/flow.h>
#include <weft/wire/wire_anonymize.h>

#ifndef WITH_LIBFUZZER
const char *const fuzz_folders[] = {NULL};
const char *const fuzz_texts[] = {NULL};
#endif

struct source {
	const uint8_t *at;
	size_t left, step;
};

static int64_t read_some(void *context, void *to, size_t bytes)
{
	struct source *source = context;
	size_t step = bytes < source->step ? bytes : source->step;
	step = step < source->left ? step : source->left;
	memcpy(to, source->at, step);
	source->at += step;
	source->left -= step;
	return (int64_t)step;
}

static void check_stream(const struct flow_stream *stream)
{
	check(stream->again <= stream->data && stream->doubled <= stream->again);
	check(stream->data_bytes >= stream->again_bytes);
	check(stream->first_number <= stream->last_number);
	check(stream->done == stream->messages.count);
	check(stream->messages.count == 0 || stream->messages.min_ns <= stream->messages.max_ns);
	check(stream->low_psn <= 0xffffff && stream->high_psn <= 0xffffff);
}

// What is found of all is what is found of each, once nothing was evicted.
// What is in bins is what passed; what of it is told, is in its bounds.
static void check_bursts(const struct flow_report *report, const struct flow_target *target)
{
	for (int i = 0; i < FLOW_BINS; i++) {
		const struct flow_bins *bins = &target->bins[i];
		uint64_t sum = 0;
		for (int k = 0; k < FLOW_BIN_SIZES; k++)
			sum += bins->bytes_by_size[k];
		check(sum == target->bytes && bins->peak_bytes <= sum);
		check(bins->senders_most <= target->senders && bins->strays <= target->packets);
		check(flow_bins_state(report, target, i) <= FLOW_BINS_BACKWARD);
		double share = flow_burst_share(target, i);
		check(share == -1 || (share >= 0 && share <= 1));
	}
}

static void check_report(const struct flow_report *report, const struct flow_config *config,
			 uint64_t frames)
{
	uint64_t packets = 0,
		 with_bth = report->totals.icrc[0] + report->totals.icrc[1] +
		report->totals.icrc[2] + report->totals.icrc[3];
	check(report->totals.frames == frames);
	check(report->stream_count <= config->streams_max);
	check(report->repair_count <= config->repairs_max);
	for (uint32_t i = 0; i < report->stream_count; i++) {
		check_stream(&report->streams[i]);
		packets += report->streams[i].packets;
	}
	check(report->evicted > 0 ? packets <= with_bth : packets == with_bth);
	for (int cause = 0; cause < FLOW_CAUSE_COUNT; cause++) {
		uint64_t sum = 0;
		for (uint32_t i = 0; i < report->stream_count; i++)
			sum += report->streams[i].causes[cause];
		check(report->evicted > 0 ? sum <= report->causes[cause]
					  : sum == report->causes[cause]);
	}
	for (uint32_t i = 0; i < report->repair_count; i++)
		check(report->repairs[i].cause < FLOW_CAUSE_COUNT &&
		      report->repairs[i].stream < report->stream_count);
	check(report->target_count <= config->targets_max);
	for (uint32_t i = 0; i < report->target_count; i++)
		check_bursts(report, &report->targets[i]);
	check(report->change_count <= config->changes_max &&
	      report->change_count <= report->class_changes);
	for (uint32_t i = 0; i < report->change_count; i++)
		check(report->changes[i].from != report->changes[i].to &&
		      report->changes[i].before < report->changes[i].number);
	for (int rule = 0; rule < FLOW_RULE_COUNT; rule++)
		check((report->broken[rule].count > 0) == (report->broken[rule].first > 0));
	for (uint32_t i = 0; i < report->note_count; i++)
		check(report->notes[i].kind < FLOW_NOTE_COUNT && report->notes[i].count > 0 &&
		      report->notes[i].number <= frames);
}

// An anonymized frame is dissected as it was, but for what is hidden; its ICRC is as good or bad.
static void check_anonymized(const struct wire_config *config, uint16_t link,
			     const struct capture_frame *frame, const struct wire_record *was)
{
	static struct wire_anonymizer anonymizer;
	static const uint8_t key[WIRE_ANONYMIZE_KEY_BYTES] = {1};
	wire_anonymizer_init(&anonymizer, config, key);
	uint8_t *copy = malloc(frame->captured > 0 ? frame->captured : 1); // of the exact size
	check(copy != NULL);
	memcpy(copy, frame->bytes, frame->captured);
	enum wire_icrc icrc = wire_anonymize(&anonymizer, link, copy, frame->captured,
					     frame->original);
	check(was->icrc == WIRE_ICRC_UNKNOWN || was->icrc == icrc);
	struct wire_record is;
	wire_dissect(config, link, copy, frame->captured, frame->original, &is);
	check(is.found == was->found && is.layers == was->layers && is.stopped == was->stopped);
	check(is.icrc == was->icrc && is.psn == was->psn && is.qpn == was->qpn);
	check(is.opcode == was->opcode && is.payload_bytes == was->payload_bytes);
	check(is.message_bytes == was->message_bytes && is.msn == was->msn);
	check(is.ev == was->ev && is.sack_psn == was->sack_psn && is.syndrome == was->syndrome);
	check(is.identification == was->identification && is.dscp == was->dscp);
	free(copy);
}

static void fuzz_one(const uint8_t *data, size_t bytes)
{
	static struct capture_reader reader;
	static uint8_t buffer[1 << 16];
	static const size_t steps[] = {1, 7, 100, 65536}, capacities[] = {64, 600, 4096, 65536};
	if (bytes < 1)
		return;
	uint8_t choice = data[0];
	struct flow_config config = {.streams_max = choice & 1 ? 3 : 64,
				     .psns_max = choice & 2 ? 128 : 8192,
				     .repairs_max = choice & 2 ? 2 : 64,
				     .targets_max = choice & 1 ? 2 : 16,
				     .changes_max = 4};
	wire_config_default(6, &config.wire);
	static void *unpacked; // once: no run has more than one
	if (unpacked == NULL)
		unpacked = aligned_alloc(64, (capture_gunzip_bytes() + 63) / 64 * 64);
	check(unpacked != NULL);
	struct source source = {data + 1, bytes - 1, steps[choice >> 2 & 3]};
	reader = (struct capture_reader){
		.read = capture_gunzip_read,
		.context = capture_gunzip_begin(unpacked, read_some, &source),
		.buffer = buffer,
		.capacity = capacities[choice >> 4 & 3]};
	struct refusal refusal = {0};
	if (capture_begin(&reader, &refusal) < 0) {
		check(refusal.text[0] != '\0');
		return;
	}
	size_t size = flow_bytes(&config);
	void *base = calloc(1, size);
	struct arena arena;
	check(base != NULL);
	arena_init(&arena, base, size);
	struct flow *flow = flow_create(&arena, &config);
	check(flow != NULL);
	struct capture_frame frame;
	struct wire_record record;
	uint64_t number = 0;
	while (capture_next(&reader, &frame)) {
		check(frame.number == ++number && frame.interface < reader.interface_count);
		check(frame.captured <= frame.original);
		wire_dissect(&config.wire, reader.interfaces[frame.interface].link, frame.bytes,
			     frame.captured, frame.original, &record);
		if (number % 8 == 1)
			check_anonymized(&config.wire, reader.interfaces[frame.interface].link,
					 &frame, &record);
		struct flow_packet packet = {&record, number, frame.at_ns, frame.has_time,
					     frame.interface % FLOW_PLACES_MAX};
		flow_take(flow, &packet);
	}
	check(reader.end != CAPTURE_OPEN && (reader.end == CAPTURE_WHOLE) == (reader.why[0] == 0));
	check_report(flow_end(flow), &config, number);
	free(base);
}

// --- first inputs

#ifndef WITH_LIBFUZZER

static void keep_all(const char *variable, const char *name)
{
	static uint8_t data[FUZZ_BYTES_MAX];
	char path[4096];
	const char *root = getenv(variable);
	snprintf(path, sizeof(path), "%s/%s", root != NULL ? root : ".", name);
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
		snprintf(path, sizeof(path), "%s/%s/%s", root != NULL ? root : ".", name,
			 entry->d_name);
		FILE *file = strstr(entry->d_name, ".pcap") ? fopen(path, "rb") : NULL;
		if (file == NULL)
			continue;
		data[0] = 0x3c;
		fuzz_keep(data, 1 + fread(data + 1, 1, sizeof(data) / 2, file));
		fclose(file);
	}
	if (folder != NULL)
		closedir(folder);
}

// main() is the same for all targets and knows texts only.
__attribute__((constructor)) static void keep_before_main(void)
{
	keep_all("WEFT_SOURCE", "pcaps");
	keep_all("WEFT_SHARED", "data/captures/given/roce");
	keep_all("WEFT_SHARED", "data/captures/given/robust");
	keep_all("WEFT_SHARED", "data/captures/given/other");
}

#endif
