// SPDX-License-Identifier: Apache-2.0
// Packets of two captures, matched. Copies of one packet are matched in their order, or, where one
// point has fewer, by the delay that most have.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/wire/wire_dissect.h>
#include <weft/wire/wire_ends.h>

#include "between.h"
#include "matching.h"
#include "pcap.h"
#include "places.h"
#include "table_of.h"

#define NOT_PLACED UINT32_MAX

// What names a packet, as bytes: none of it is changed on the way.
struct name {
	uint8_t source[16], target[16];
	uint64_t sack_bitmap;
	uint32_t qpn, psn, msn, sack_psn, ev;
	uint16_t source_port, identification;
	uint8_t found, opcode, syndrome, flags;
};

static uint64_t hash_of(const void *bytes, size_t count)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	const uint8_t *at = bytes;
	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
	return hash ^ hash >> 29;
}

static uint64_t name_of(const struct wire_record *record)
{
	struct name name;
	memset(&name, 0, sizeof(name)); // padding, too
	memcpy(name.source, record->source, 16);
	memcpy(name.target, record->target, 16);
	name.sack_bitmap = record->sack_bitmap;
	name.qpn = record->qpn;
	name.psn = record->psn;
	name.msn = record->msn;
	name.sack_psn = record->sack_psn;
	name.ev = record->ev;
	name.source_port = record->source_port;
	name.identification = record->identification;
	name.found = record->found;
	name.opcode = record->opcode;
	name.syndrome = record->syndrome;
	name.flags = (uint8_t)(record->is_rtx | record->asks_ack << 1 | record->is_becn << 2);
	return hash_of(&name, sizeof(name));
}

// ---------------------------------------------------------------- reading

struct stream_key {
	uint32_t source, target, qpn, found;
};

struct stream {
	struct stream_key key;
	uint32_t places[2]; // + 1, in A and in B
};

struct reading {
	struct capture_reader reader;
	struct places places;
	struct wire_config wire;
	struct table_of nodes, streams;
};

static bool add(struct sightings *to, const struct sighting *sighting)
{
	if (to->count == to->room) {
		uint32_t room = to->room == 0 ? 4096 : 2 * to->room;
		void *list = realloc(to->list, room * sizeof(*to->list));
		if (list == NULL)
			return false;
		to->list = list;
		to->room = room;
	}
	to->list[to->count++] = *sighting;
	return true;
}

static uint32_t node_of(struct reading *all, const uint8_t address[16])
{
	uint8_t key[16];
	memcpy(key, address, sizeof(key));
	wire_leave_out_plane(&all->wire, key);
	return table_of_find(&all->nodes, key);
}

static bool take(struct reading *all, struct sightings *to, int which,
		 const struct wire_record *record, const struct capture_frame *frame)
{
	struct stream_key key = {node_of(all, record->source), node_of(all, record->target),
				 record->qpn, record->found};
	uint32_t index = table_of_find(&all->streams, &key);
	if (key.source == UINT32_MAX || key.target == UINT32_MAX || index == UINT32_MAX)
		return false;
	struct stream *stream = table_of_at(&all->streams, index);
	uint32_t place = 1 +
		places_find(&all->places, &all->reader, &all->reader.interfaces[frame->interface]);
	if (stream->places[which] == 0)
		stream->places[which] = place;
	if (stream->places[which] != place)
		return true; // it passes once more, elsewhere
	const struct sighting sighting = {
		.name = name_of(record),
		.at_ns = frame->at_ns,
		.number = frame->number,
		.stream = index,
		.source = key.source,
		.target = key.target,
		.mate = NOT_PLACED,
		.dscp = record->dscp,
		.ecn = record->ecn,
		.hop_limit = record->hop_limit,
		.is_trimmed = record->is_trimmed,
		.is_damaged = record->icrc == WIRE_ICRC_BAD,
	};
	return add(to, &sighting);
}

static int read_one(struct reading *all, struct sightings *to, int which, const char *path,
		    struct refusal *refusal)
{
	struct source source;
	struct capture_frame frame;
	struct wire_record record;
	int rc = source_open(&source, path, &all->reader, refusal);
	if (rc < 0)
		return rc;
	all->places.count = 0;
	bool is_good = true;
	while (is_good && capture_next(&all->reader, &frame)) {
		uint16_t link = all->reader.interfaces[frame.interface].link;
		wire_dissect(&all->wire, link, frame.bytes, frame.captured, frame.original,
			     &record);
		if (record.layers & WIRE_LAYER_BTH && frame.has_time)
			is_good = take(all, to, which, &record, &frame);
	}
	source_close(&source);
	return is_good ? 0 : refuse(refusal, -ENODEV, "no memory for the packets");
}

int between_read(struct between *ret, const char *const paths[2], struct refusal *refusal)
{
	static struct reading all; // large: kept off the stack
	struct sightings both[2] = {0};
	memset(ret, 0, sizeof(*ret));
	wire_config_default(6, &all.wire);
	table_of_init(&all.nodes, 16, 16);
	table_of_init(&all.streams, sizeof(struct stream_key), sizeof(struct stream));
	all.reader.capacity = CAPTURE_BUFFER_BYTES;
	all.reader.buffer = malloc(CAPTURE_BUFFER_BYTES);
	int rc = all.reader.buffer == NULL ? refuse(refusal, -ENODEV, "no memory for a buffer") : 0;
	for (int i = 0; i < 2 && rc == 0; i++) {
		rc = read_one(&all, &both[i], i, paths[i], refusal);
		ret->frames[i] = both[i].count;
	}
	if (rc == 0 && !sightings_compare(ret, both))
		rc = refuse(refusal, -ENODEV, "no memory to match packets");
	table_of_free(&all.nodes);
	table_of_free(&all.streams);
	free(all.reader.buffer);
	free(both[0].list);
	free(both[1].list);
	return rc;
}
