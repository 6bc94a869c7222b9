// SPDX-License-Identifier: Apache-2.0
// What a machine leaves in its outbox is laid onto its cables. A file of its own, as every hop
// passes here and the loop has use for all registers. Most departures stand in rows of one port.

#include <weft/core/bitmap.h>

#include "lane.h"
#include "processes/boundary.h"
#include "row.h"

// Departures whose place on a cable is fetched ahead, and whose cable: most likely of other rows.
#define SCATTER_PREFETCH 16
#define CABLE_PREFETCH (2 * SCATTER_PREFETCH)

#define OWN_RANK UINT32_MAX
#define NO_PORT UINT16_MAX // behind the last departure: ends its row
static_assert(NO_PORT >= MACHINE_PORTS_MAX, "no port has this number");

// The other rank that a packet crosses to at the end of a cable.
static inline uint32_t rank_at(const struct lane *lane, const struct cable *cable, uint32_t packet)
{
	uint32_t to = OWN_RANK;
	if (cable->is_boundary)
		to = boundary_rank(lane->boundary, cable, packet_at(lane->out.packets, packet));
	return cable->is_boundary && to == lane->shard ? OWN_RANK : to;
}

// Lays a copy of a packet beside its cable.
static void lay_copy(struct lane *lane, uint32_t index, uint32_t packet, ps_t at)
{
	uint32_t to = rank_at(lane, &lane->cables.cables[index], packet);
	if (to != OWN_RANK) {
		boundary_send(lane->boundary, to, index, packet_at(lane->out.packets, packet), at,
			      true);
		return;
	}
	uint32_t copy = packet_get(lane->out.packets);
	if (copy == PACKET_NONE) {
		lane->out.limit = OUTBOX_NO_PACKET; // the run ends with this window
		lane->run.doubled--;
		return;
	}
	*packet_at(lane->out.packets, copy) = *packet_at(lane->out.packets, packet);
	lane_push_reorder_queue(lane, index, at, copy);
}

// Lays a departure onto a cable with faults, or one that leads to a cut-through switch or to
// another rank.
static __attribute__((noinline)) void lay_faulty(struct lane *lane, uint32_t index,
						 const struct departure *departure, ps_t at)
{
	uint32_t packet = departure->packet;
	struct cable_fate fate = lane_fate(lane, index, departure, at);
	if (fate.drop != DROP_REASON_COUNT) {
		packet_put(lane->out.packets, packet);
		return;
	}
	at = cable_taken_at(&lane->cables.cables[index], departure->start, departure->bytes, at);
	if (fate.is_damaged)
		packet_at(lane->out.packets, packet)->flags |= PACKET_DAMAGED;
	if (fate.is_doubled)
		lay_copy(lane, index, packet, at);
	uint32_t to = rank_at(lane, &lane->cables.cables[index], packet);
	if (to != OWN_RANK) {
		boundary_send(lane->boundary, to, index, packet_at(lane->out.packets, packet),
			      at + fate.held_ps, fate.held_ps > 0);
		packet_put(lane->out.packets, packet);
		return;
	}
	if (fate.held_ps > 0)
		lane_push_reorder_queue(lane, index, at + fate.held_ps, packet);
	else
		lane_lay(lane, &lane->cables.cables[index],
			 cable_entry(&lane->cables.cables[index], at, packet), at);
}

// Lays departures that leave by one port onto its cable, which has nothing special: those from
// `departure` on, at most up to `end`. Returns the first that leaves by another port. What the loop
// changes is in registers. They are counted in `row`, unless that is NULL.
static inline __attribute__((always_inline)) const struct departure *
lay_row(struct lane *lane, struct cable *cable, const struct departure *departure, struct row *row)
{
	const ps_t delay_ps = cable->delay_ps;
	const line_t line = cable->line;
	const uint32_t port = departure->port;
	const uint8_t shift = cable->unit_shift;
	struct fifo fifo = cable->fifo;
	ps_t last_at = cable->last_at, marked_until = cable->marked_until;
	lane_check(lane, cable, line, departure); // then the others, as they keep their order
	if (fifo.count == 0)
		bitmap_set(lane->cables.waiting[cable->to_machine], cable->to_port);
	do {
		if (fifo.put % FIFO_CHUNK_WORDS == 0)
			fifo_grow(&fifo, lane->out.chunks);
		uint64_t *entry = &lane->out.chunks->words[fifo.put];
		const uint64_t *full = entry - fifo.put % FIFO_CHUNK_WORDS, *newest = entry;
		do {
			if (row != NULL)
				row_add(row, lane, departure, lane->other_bytes_max);
			ps_t head_at = departure->start + delay_ps;
			check(cable_round(head_at, shift) >= last_at); // one at a time, in order
			ps_t units = cable_units(head_at + line_ps(line, departure->bytes), shift);
			last_at = units << shift;
			cable_put(--entry, units, departure->packet);
			if (last_at >= marked_until)
				marked_until = lane_mark(lane, cable, last_at);
		} while ((++departure)->port == port && entry > full);
		fifo.put -= (uint32_t)(newest - entry);
		fifo.count += (uint32_t)(newest - entry);
	} while (departure->port == port);
	cable->fifo = fifo;
	cable->last_at = last_at;
	cable->marked_until = marked_until;
	return departure;
}

// Fetches what the rows after the one at `departure` are laid on.
static inline __attribute__((always_inline)) void
prefetch_arrivals(const struct lane *lane, const uint32_t *out_cable,
		  const struct departure *departure, const struct departure *end)
{
	const struct cable *cables = lane->cables.cables;
	if (end - departure > CABLE_PREFETCH)
		__builtin_prefetch(&cables[out_cable[departure[CABLE_PREFETCH].port]], 1);
	if (end - departure > SCATTER_PREFETCH) {
		const struct cable *cable = &cables[out_cable[departure[SCATTER_PREFETCH].port]];
		__builtin_prefetch(fifo_newest(&cable->fifo, lane->out.chunks), 1);
	}
}

static inline __attribute__((always_inline)) void scatter(struct lane *lane, uint32_t m,
							  bool is_counted)
{
	const uint32_t *out_cable = lane->cables.out + lane->cables.base[m];
	const struct departure *departure = lane->out.departures;
	const struct departure *end = departure + lane->out.count, *counted = departure;
	lane->out.departures[lane->out.count].port = NO_PORT;
	struct row row;
	while (departure < end) {
		uint32_t index = out_cable[departure->port];
		struct cable *cable = &lane->cables.cables[index];
		prefetch_arrivals(lane, out_cable, departure, end);
		if (__builtin_expect(!cable->is_special, 1)) {
			row_begin(&row, departure);
			departure = lay_row(lane, cable, departure, is_counted ? &row : NULL);
			if (is_counted)
				row_end(&row, lane, m, index, departure, false);
			continue;
		}
		if (is_counted && departure >= counted) // whatever becomes of them
			counted = lane_count_row(lane, m, departure, end);
		if (cable->is_boundary && cable->fault_count == 0 && cable->head_bytes == 0) {
			departure = boundary_cross(lane->boundary, index, departure, end);
			continue;
		}
		lay_faulty(lane, index, departure, lane_depart(lane, cable, departure));
		departure++;
	}
}

// The same where cables are counted. A function of its own: the loops of the other need no register
// for that.
static __attribute__((noinline)) void scatter_counted(struct lane *lane, uint32_t m)
{
	scatter(lane, m, true);
}

void lane_scatter(struct lane *lane, uint32_t m)
{
	if (__builtin_expect(lane->world->links.counts != NULL, 0))
		scatter_counted(lane, m);
	else
		scatter(lane, m, false);
}
