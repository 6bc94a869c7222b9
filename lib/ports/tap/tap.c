// SPDX-License-Identifier: Apache-2.0
// Taps. What a lane takes in a window lies in a place of its own: no lane waits for another. When
// the window ends one thread puts all of it in order, which no number of lanes changes, and writes
// it into the buffers of the files. Nothing allocates after tap_open().

#include <weft/ports/tap.h>

#include <errno.h>
#include <string.h>

#include <weft/capture/capture.h>
#include <weft/wire/wire_pause.h>

#include "tap_parts.h"

// What all lanes together may hold of one window. Memory is used only as packets are taken.
#define TAP_RECORDS_MAX (1u << 19)
#define TAP_BYTES_MAX (UINT64_C(64) << 20)
#define BUFFER_BYTES ((size_t)1 << 20) // of a file
#define STATISTICS_BYTES 64	       // of an interface, at the end of a capture: 52 and some

enum listens {
	LISTENS_NOT,
	LISTENS_ALWAYS,
	LISTENS_AT_TIMES,
};

// One tapped end of a cable: an interface of the capture.
struct tap_point {
	uint32_t place;
	uint64_t passed, lost, left_out; // the capture is full
};

// One packet of the window.
struct tap_record {
	ps_t at;
	uint32_t place;
	uint32_t bytes_at; // in the lane's bytes
	uint32_t captured;
	uint32_t original;
	bool is_unread; // there is no packet
};

struct tap_lane {
	struct tap_record *records;
	struct packet *packets; // of the records, for the log
	uint8_t *bytes;		// of their frames, for the capture
	uint8_t *frame;		// where a frame is built
	uint64_t used;		// of bytes
	uint32_t count;		// of records
	uint8_t apart[20];	// lanes write into no cache line of each other
};
static_assert(sizeof(struct tap_lane) == 64, "a lane is one cache line");

struct tap_set {
	const struct world *world;
	const struct codec *codec;
	uint8_t *listens;   // [places] enum listens
	uint32_t *point_of; // [places], of those that are tapped
	struct tap_point *points;
	uint32_t point_count;
	uint32_t lane_count;
	struct tap_lane *lanes;
	uint32_t records_max; // of a lane
	uint64_t bytes_max;   // of a lane
	struct tap_key *keys, *scratch;
	struct pcapng capture; // its buffer
	char *text;	       // the log's buffer
	size_t text_used;
	struct tap_file capture_file, log_file;
	uint64_t frames;
	uint64_t log_left_out;
	bool is_capture_full, is_log_full; // nothing is added behind a gap
};

// ---------------------------------------------------------------- places

// A scenario without taps has all cables of NICs tapped.
static bool is_point(const struct world *world, uint32_t place)
{
	if (world->scenario->tap_count == 0)
		return world->cables[place / 2].tier == 0 && place % 2 == 0;
	return world_cable_has_tap(world, place);
}

// Whether the taps of the scenario listen from the first moment to the last.
static bool is_always(const struct scenario *scenario)
{
	for (uint32_t i = 0; i < scenario->tap_count; i++)
		if (scenario->taps[i].from_ps > 0 || scenario->taps[i].until_ps != PS_NEVER)
			return false;
	return true;
}

static int find_points(struct tap_set *set, struct refusal *refusal)
{
	const struct world *world = set->world;
	uint8_t how = is_always(world->scenario) ? LISTENS_ALWAYS : LISTENS_AT_TIMES;
	uint32_t count = 0, places = TAP_LOCATION(world->cable_count, 0);
	set->listens = arena_draw(world->arena, ARENA_DRIVE, places, sizeof(uint8_t));
	set->point_of = arena_draw(world->arena, ARENA_DRIVE, places, sizeof(uint32_t));
	if (arena_has_failed(world->arena))
		return -ENOMEM;
	for (uint32_t i = 0; i < places; i++) {
		if (is_point(world, i)) {
			set->listens[i] = how;
			set->point_of[i] = count++;
		}
	}
	if (count == 0)
		return refuse(refusal, -EINVAL,
			      "no tap of the scenario is on a cable of its world");
	set->points = arena_draw(world->arena, ARENA_DRIVE, count, sizeof(*set->points));
	if (set->points == NULL)
		return -ENOMEM;
	set->point_count = count;
	for (uint32_t i = 0; i < places; i++)
		if (set->listens[i] != LISTENS_NOT)
			set->points[set->point_of[i]].place = i;
	return 0;
}

bool tap_listens(const struct tap_set *set, uint32_t place, ps_t at)
{
	uint8_t listens = set->listens[place];
	if (listens == LISTENS_AT_TIMES)
		return world_cable_is_tapped(set->world, place, at);
	return listens == LISTENS_ALWAYS;
}

int tap_check_near(const struct world *world, struct refusal *refusal)
{
	const struct scenario *scenario = world->scenario;
	for (uint32_t i = 0; i < scenario->tap_count; i++) {
		if (!scenario->taps[i].is_far)
			continue;
		int rc = refuse(
			refusal, -EINVAL,
			"taps[].end far needs virtual or paced time: in wall time nobody is at a "
			"cable's far end");
		scenario_tap_location(scenario, i, refusal);
		return rc;
	}
	return 0;
}

// Of the cable; of its far end, " end" behind that.
static void name_place(const struct world *world, uint32_t place, char ret[TAP_PLACE_NAME_BYTES])
{
	world_cable_name(world, place / 2, ret, WORLD_CABLE_NAME_BYTES);
	if (place % 2)
		strcat(ret, TAP_FAR_WORD);
}

// ---------------------------------------------------------------- sizes

// The most packets that one cable takes in a window.
static uint64_t cable_packets_max(const struct world *world)
{
	uint32_t ports = 1;
	for (uint32_t m = 0; m < world->machine_count; m++)
		if (world->machines[m].port_count > ports)
			ports = world->machines[m].port_count;
	return (world->departures_max + ports - 1) / ports;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

// What a window brings at most: full frames, all of them cut, or what the line carries with headers
// that it is not charged for. One lane may have all of it to take.
static void plan_lanes(struct tap_set *set)
{
	const struct world *world = set->world;
	uint64_t packets = cable_packets_max(world);
	uint64_t line_bytes = ((uint64_t)world->window_ps << 20) /
		line_of(world->topology.rate_max_bps);
	uint64_t whole = packets * tap_snap_bytes(set->codec, &set->world->scenario->capture);
	uint64_t on_line = packets * tap_header_bytes_max(set->codec) + line_bytes +
		set->codec->frame_bytes_max;
	set->records_max = (uint32_t)smaller(set->point_count * packets,
					     TAP_RECORDS_MAX / set->lane_count);
	set->bytes_max = smaller(set->point_count * smaller(whole, on_line),
				 TAP_BYTES_MAX / set->lane_count);
}

// ---------------------------------------------------------------- opening and closing

static void *draw(struct tap_set *set, size_t count, size_t bytes)
{
	return arena_draw(set->world->arena, ARENA_DRIVE, count, bytes);
}

static int draw_lane(struct tap_set *set, struct tap_lane *lane)
{
	lane->records = draw(set, set->records_max, sizeof(*lane->records));
	if (set->log_file.path != NULL)
		lane->packets = draw(set, set->records_max, sizeof(*lane->packets));
	if (set->capture_file.path != NULL) {
		lane->bytes = draw(set, set->bytes_max, 1);
		lane->frame = draw(set, set->codec->frame_bytes_max, 1);
	}
	bool has_packets = lane->packets != NULL || set->log_file.path == NULL;
	bool has_bytes = set->capture_file.path == NULL ||
		(lane->bytes != NULL && lane->frame != NULL);
	return lane->records != NULL && has_packets && has_bytes ? 0 : -ENOMEM;
}

static int draw_buffers(struct tap_set *set)
{
	size_t records = (size_t)set->records_max * set->lane_count;
	set->keys = draw(set, records, sizeof(*set->keys));
	set->scratch = draw(set, records, sizeof(*set->scratch));
	set->lanes = draw(set, set->lane_count, sizeof(*set->lanes));
	set->capture.at = draw(set, BUFFER_BYTES, 1);
	set->text = draw(set, BUFFER_BYTES, 1);
	if (set->keys == NULL || set->scratch == NULL || set->lanes == NULL ||
	    set->capture.at == NULL || set->text == NULL)
		return -ENOMEM;
	set->capture.capacity = BUFFER_BYTES;
	set->capture.base_ns = TAP_BASE_NS;
	for (uint32_t i = 0; i < set->lane_count; i++)
		if (draw_lane(set, &set->lanes[i]) < 0)
			return -ENOMEM;
	return 0;
}

static int open_files(struct tap_set *set, const struct tap_options *options,
		      struct refusal *refusal)
{
	int rc = 0;
	if (options->pcap == NULL && options->log == NULL)
		return refuse(refusal, -EINVAL, "taps have neither a capture nor a log to write");
	if (options->pcap != NULL)
		rc = tap_file_open(&set->capture_file, options->pcap, refusal);
	if (rc == 0 && options->log != NULL)
		rc = tap_file_open(&set->log_file, options->log, refusal);
	return rc;
}

static void drain_capture(struct tap_set *set)
{
	tap_file_write(&set->capture_file, set->capture.at, set->capture.used);
	set->capture.used = 0;
}

static void drain_log(struct tap_set *set)
{
	tap_file_write(&set->log_file, set->text, set->text_used);
	set->text_used = 0;
}

static void put_interface(struct tap_set *set, const struct tap_point *point)
{
	const struct world *world = set->world;
	const struct capture_config *config = &world->scenario->capture;
	bool is_cut = config->is_headers_only || config->snap_bytes > 0;
	static const char *const words[2][2] = {
		{"up, at the start of the cable, before its faults",
		 "up, at the end of the cable, behind its faults"},
		{"down, at the start of the cable, before its faults",
		 "down, at the end of the cable, behind its faults"}};
	char name[TAP_PLACE_NAME_BYTES];
	name_place(world, point->place, name);
	const struct pcapng_interface interface = {
		.name = name,
		.description = words[point->place / 2 % 2][point->place % 2],
		.snap_bytes = is_cut ? tap_snap_bytes(set->codec, &set->world->scenario->capture)
				     : 0,
		.line_bps = world->topology.links[point->place / 4].rate_bps,
		.link = PCAPNG_LINK_ETHERNET};
	if (pcapng_interface(&set->capture, &interface) == 0)
		return;
	drain_capture(set);
	check(pcapng_interface(&set->capture, &interface) == 0);
}

static void begin_files(struct tap_set *set, const char *program)
{
	if (set->capture_file.path != NULL) {
		tap_file_empty(&set->capture_file);
		check(pcapng_begin(&set->capture, program, NULL) == 0);
		for (uint32_t i = 0; i < set->point_count; i++)
			put_interface(set, &set->points[i]);
	}
	if (set->log_file.path != NULL) {
		tap_file_empty(&set->log_file);
		set->text_used = strlen(tap_log_head);
		memcpy(set->text, tap_log_head, set->text_used);
	}
}

static int open_set(struct tap_set *set, const struct tap_options *options, struct refusal *refusal)
{
	int rc = open_files(set, options, refusal);
	if (rc == 0)
		rc = find_points(set, refusal);
	if (rc < 0)
		return rc;
	plan_lanes(set);
	return draw_buffers(set);
}

int tap_open(struct tap_set **ret, struct world *world, const struct tap_options *options,
	     const struct codec *codec, uint32_t lanes, struct refusal *refusal)
{
	struct tap_set *set = arena_draw(world->arena, ARENA_DRIVE, 1, sizeof(*set));
	int rc = -ENOMEM;
	if (set != NULL) {
		*set = (struct tap_set){.world = world, .codec = codec, .lane_count = lanes};
		rc = open_set(set, options, refusal);
	}
	if (rc == 0) {
		begin_files(set, options->program);
		*ret = set;
		return 0;
	}
	if (set != NULL) {
		tap_file_abandon(&set->capture_file);
		tap_file_abandon(&set->log_file);
	}
	if (rc == -ENOMEM)
		return refuse(refusal, rc, "taps do not fit into % MiB: raise limits.memory",
			      (int64_t)(world->arena->size >> 20));
	return rc;
}

static void put_statistics(struct tap_set *set, uint32_t interface, ps_t now)
{
	const struct tap_point *point = &set->points[interface];
	const struct pcapng_counts counts = {point->passed, point->lost, point->left_out};
	if (set->capture.capacity - set->capture.used < STATISTICS_BYTES)
		drain_capture(set);
	check(pcapng_statistics(&set->capture, interface, now, &counts) == 0);
}

int tap_close(struct tap_set *set, ps_t now, struct tap_counts *ret, struct refusal *refusal)
{
	int rc = 0;
	tap_window_end(set);
	*ret = (struct tap_counts){.frames = set->frames, .log_left_out = set->log_left_out};
	for (uint32_t i = 0; i < set->point_count; i++) {
		ret->lost += set->points[i].lost;
		ret->pcap_left_out += set->points[i].left_out;
		if (set->capture_file.path != NULL)
			put_statistics(set, i, now);
	}
	if (set->capture_file.path != NULL) {
		drain_capture(set);
		rc = tap_file_close(&set->capture_file, refusal);
		ret->pcap_error = set->capture_file.error;
	}
	if (set->log_file.path != NULL) {
		drain_log(set);
		int log_rc = tap_file_close(&set->log_file, rc < 0 ? NULL : refusal);
		ret->log_error = set->log_file.error;
		rc = rc < 0 ? rc : log_rc;
	}
	ret->bytes = set->capture_file.bytes + set->log_file.bytes;
	return rc;
}

// ---------------------------------------------------------------- taking

// The first `captured` bytes of a frame. A UDP checksum stands in the headers but is over all.
static const uint8_t *build(const struct codec *codec, const struct packet *packet,
			    uint32_t captured, uint8_t *frame)
{
	struct wire_view view;
	bool has_checksum = codec->nic.has_udp_checksum && !(packet->flags & PACKET_TRIMMED);
	bool has_all = has_checksum || captured > tap_header_bytes(codec, packet);
	uint32_t bytes = has_all ? codec_write(codec, packet, frame)
				 : codec_write_headers(codec, packet, frame, &view);
	if (has_all && packet->flags & PACKET_DAMAGED) // behind what switches look at
		codec_damage(codec, false, rng_mix(packet->psn), frame, bytes);
	return frame;
}

// Puts the frame of a record into the lane's bytes; false when there is no room.
static bool take_frame(const struct tap_set *set, struct tap_lane *lane,
		       const struct packet *packet, const void *frame, struct tap_record *record)
{
	record->captured = tap_captured_bytes(set->codec, &set->world->scenario->capture, packet,
					      record->original);
	if (record->captured > set->bytes_max - lane->used)
		return false;
	if (packet != NULL && packet->opcode == PACKET_PAUSE)
		frame = wire_pause_build(&set->codec->nic, packet, lane->frame);
	else if (frame == NULL)
		frame = build(set->codec, packet, record->captured, lane->frame);
	record->bytes_at = (uint32_t)lane->used;
	memcpy(lane->bytes + lane->used, frame, record->captured);
	lane->used += record->captured;
	return true;
}

void tap_take(struct tap_set *set, uint32_t lane, uint32_t place, ps_t at,
	      const struct packet *packet, const void *frame, uint32_t bytes)
{
	struct tap_lane *to = &set->lanes[lane];
	struct tap_point *point = &set->points[set->point_of[place]];
	struct tap_record record = {
		.at = at, .place = place, .original = bytes, .is_unread = packet == NULL};
	check(lane < set->lane_count && set->listens[place] != LISTENS_NOT);
	if (frame == NULL)
		record.original = tap_frame_bytes(set->codec, packet);
	point->passed++;
	if (to->count == set->records_max ||
	    (to->bytes != NULL && !take_frame(set, to, packet, frame, &record))) {
		point->lost++;
		return;
	}
	if (to->packets != NULL && packet != NULL)
		to->packets[to->count] = *packet;
	to->records[to->count++] = record;
}

// ---------------------------------------------------------------- a window's end

static void put_frame(struct tap_set *set, const struct tap_lane *lane,
		      const struct tap_record *record)
{
	const struct pcapng_frame frame = {
		.interface = set->point_of[record->place],
		.at = record->at,
		.bytes = lane->bytes + record->bytes_at,
		.captured = record->captured,
		.original = record->original,
	};
	set->is_capture_full |= !tap_file_has_room(&set->capture_file,
						   set->capture.used + pcapng_frame_bytes(&frame) +
							   (size_t)set->point_count *
								   STATISTICS_BYTES,
						   set->world->scenario->capture.file_bytes);
	if (set->is_capture_full) {
		set->points[frame.interface].left_out++;
		return;
	}
	if (pcapng_frame(&set->capture, &frame) == 0)
		return;
	drain_capture(set);
	check(pcapng_frame(&set->capture, &frame) == 0);
}

static void put_line(struct tap_set *set, const struct tap_record *record,
		     const struct packet *packet)
{
	char name[TAP_PLACE_NAME_BYTES];
	set->is_log_full |= !tap_file_has_room(&set->log_file, set->text_used + TAP_LOG_LINE_BYTES,
					       set->world->scenario->capture.file_bytes);
	if (set->is_log_full) {
		set->log_left_out++;
		return;
	}
	if (set->text_used > BUFFER_BYTES - TAP_LOG_LINE_BYTES)
		drain_log(set);
	name_place(set->world, record->place, name);
	set->text_used += tap_log_line(set->text + set->text_used, &set->codec->nic, record->at,
				       name, record->is_unread ? NULL : packet);
}

// The keys of all lanes, one lane after the other. A cable's packets are all of one lane.
static uint32_t list_keys(struct tap_set *set)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < set->lane_count; i++) {
		const struct tap_lane *lane = &set->lanes[i];
		for (uint32_t r = 0; r < lane->count; r++)
			set->keys[count++] = (struct tap_key){lane->records[r].at,
							      lane->records[r].place,
							      i * set->records_max + r};
	}
	return count;
}

void tap_window_end(struct tap_set *set)
{
	uint32_t count = list_keys(set);
	const struct tap_key *keys = tap_sort(set->keys, set->scratch, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct tap_lane *lane = &set->lanes[keys[i].place / set->records_max];
		uint32_t at = keys[i].place % set->records_max;
		if (lane->bytes != NULL)
			put_frame(set, lane, &lane->records[at]);
		if (lane->packets != NULL)
			put_line(set, &lane->records[at], &lane->packets[at]);
	}
	for (uint32_t i = 0; i < set->lane_count; i++) {
		set->lanes[i].count = 0;
		set->lanes[i].used = 0;
	}
	set->frames += count;
}
