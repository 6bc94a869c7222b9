// SPDX-License-Identifier: Apache-2.0
// Frames from ports to machines and back.

#include "lane.h"

#include <errno.h>
#include <string.h>

#include <weft/core/bitmap.h>
#include <weft/world/world_write_target.h>

#include "sim.h"

#define REORDER_QUEUE (UINT32_C(1) << 31) // rides with a cable's number: the frame is out of order

// Packets are in machines only, frames on cables: both at once may fill their pools, which the
// world's list chunks are not meant for.
static int draw_chunks(struct lane *lane, const struct world *world, struct arena *arena)
{
	uint64_t lists = (uint64_t)world->cable_count * 4; // as the world counts them
	uint64_t entries = (uint64_t)lane->ports->frames + world->packets.capacity;
	lane->out.chunks = &lane->chunks_own;
	return fifo_pool_init(&lane->chunks_own, arena, fifo_chunks_for(lists, entries));
}

int frames_init(struct lane *lane, const struct world *world, struct arena *arena)
{
	uint32_t packets = world->packets.capacity;
	lane->out.packets = lane->index == 0 ? (struct packet_pool *)&world->packets
					     : &lane->packets_own;
	if (draw_chunks(lane, world, arena) < 0 ||
	    (lane->index > 0 && packet_pool_init(&lane->packets_own, arena, packets) < 0))
		return -ENOMEM;
	lane->backing = (struct backing){.codec = lane->codec,
					 .ports = lane->ports,
					 .packets = lane->out.packets,
					 .options = lane->watch};
	int rc = backing_init(&lane->backing, arena);
	lane->news = arena_draw(arena, ARENA_DRIVE, BITMAP_WORDS(lane->ports->queue_count) + 1,
				sizeof(uint64_t));
	lane->out.dma_write_capacity = lane->arrivals_max + world_moves_max(world);
	lane->out.dma_writes = arena_draw(arena, ARENA_DRIVE, lane->out.dma_write_capacity,
					  sizeof(struct dma_write));
	return lane->news == NULL || lane->out.dma_writes == NULL ? -ENOMEM : rc;
}

// ---------------------------------------------------------------- arrivals

// Frames of one queue onto the lists of their cables.
static void poll_queue(struct lane *lane, uint32_t queue)
{
	struct frame frames[PORT_BURST];
	uint32_t count;
	while ((count = lane->ports->ops->receive(lane->ports, queue, frames, PORT_BURST)) > 0) {
		for (uint32_t i = 0; i < count; i++) {
			uint32_t index = frames[i].cable & ~REORDER_QUEUE;
			struct cable *cable = &lane->cables.cables[index];
			if (frames[i].cable & REORDER_QUEUE) {
				lane_push_reorder_queue(lane, index, frames[i].at,
							(uintptr_t)frames[i].owner);
				continue;
			}
			lane_lay(lane, cable, (uintptr_t)frames[i].owner, frames[i].at);
		}
	}
}

void frames_poll(struct lane *lane)
{
	for (uint32_t word = 0; word < BITMAP_WORDS(lane->ports->queue_count); word++) {
		uint64_t rest = lane->news[word];
		for (lane->news[word] = 0; rest != 0; rest &= rest - 1)
			poll_queue(lane, (word << 6) + (uint32_t)__builtin_ctzll(rest));
	}
}

static void drop_frame(struct lane *lane, void *owner, enum wire_reason reason)
{
	lane->run.dropped[DROP_BAD_FRAME]++;
	lane->run.bad_frames[reason]++;
	lane->ports->ops->give(lane->ports, &owner, 1);
}

// Makes a packet of a frame; PACKET_NONE when the frame is none.
static uint32_t read_frame(struct lane *lane, const struct frame *frame, bool is_host)
{
	uint32_t packet;
	enum wire_reason reason = backing_read(
		&lane->backing, is_host ? &lane->codec->nic : &lane->codec->in_switch, frame,
		&packet);
	if (reason == WIRE_FINE)
		return packet;
	drop_frame(lane, frame->owner, reason);
	return PACKET_NONE;
}

static bool has_packets(struct lane *lane)
{
	const struct packet_pool *pool = lane->out.packets;
	if (packet_pool_taken(pool) < pool->capacity)
		return true;
	lane->out.limit = OUTBOX_NO_PACKET;
	return false;
}

// Shows a frame that leaves cable `index` to the taps behind the faults of cables. What a switch
// would not understand, for its headers are damaged, has no descriptor.
static __attribute__((noinline)) void tap_far(struct lane *lane, uint32_t index,
					      const struct frame *frame)
{
	uint32_t location = TAP_LOCATION(lane->cables.plan[index], true);
	struct packet packet;
	struct wire_view view;
	if (!tap_listens(lane->taps, location, frame->at))
		return;
	bool is_read = wire_parse(&lane->codec->in_switch, frame->bytes, frame->length, &packet,
				  &view) == WIRE_FINE;
	tap_take(lane->taps, lane->index, location, frame->at, is_read ? &packet : NULL,
		 frame->bytes, frame->length);
}

// Takes the first frame of a cable, if it arrives before the window's end.
static bool take_first(struct lane *lane, uint32_t index, struct frame *ret)
{
	struct cable *cable = &lane->cables.cables[index];
	struct reorder_queue *reorder_queue = lane->cables.reorder_queue[index];
	ps_t reorder_queue_at = cable->has_reorder_queue ? reorder_queue_first_at(reorder_queue)
							 : PS_NEVER;
	ret->at = PS_NEVER;
	if (cable->fifo.count > 0)
		lane->ports->ops->look(lane->ports,
				       (void *)(uintptr_t)fifo_peek(&cable->fifo, lane->out.chunks),
				       ret);
	if (ps_min(reorder_queue_at, ret->at) >= lane->window_end)
		return false;
	if (reorder_queue_at < ret->at)
		lane->ports->ops->look(lane->ports,
				       (void *)(uintptr_t)reorder_queue_pop(reorder_queue), ret);
	else
		fifo_pop(&cable->fifo, lane->out.chunks);
	if (lane->taps != NULL)
		tap_far(lane, index, ret);
	return true;
}

// Takes a frame that arrives at `at`, if it is a packet.
static uint32_t take_one(struct lane *lane, uint32_t index, const struct frame *frame,
			 struct arrival *to, uint32_t room)
{
	const struct cable *cable = &lane->cables.cables[index];
	check(room > 0 && frame->at >= lane->window_start);
	bool is_host = lane->world->machines[cable->to_machine].is_host;
	uint32_t packet = read_frame(lane, frame, is_host);
	if (packet == PACKET_NONE)
		return 0;
	if (is_host)
		seen_came(&lane->sim->seen, cable->to_machine, packet_at(lane->out.packets, packet),
			  lane->backing.held[packet].view.hop_limit);
	*to = (struct arrival){frame->at, packet, cable->to_port};
	return 1;
}

// What waited for the host of the cable and is taken at `at` or before.
static uint32_t take_stalled(struct lane *lane, uint32_t index, ps_t at, struct arrival *to,
			     uint32_t room)
{
	struct stalled *stalled = lane->cables.stalled[index];
	uint32_t taken = 0;
	struct frame frame;
	while (stalled_is_due(stalled, at, lane->window_end) && has_packets(lane)) {
		void *owner = (void *)(uintptr_t)fifo_pop(&stalled->fifo, lane->out.chunks);
		lane->ports->ops->look(lane->ports, owner, &frame);
		frame.at = stalled->until;
		taken += take_one(lane, index, &frame, to + taken, room - taken);
	}
	return taken;
}

// Takes the frames of a cable to a host that stalls: first what waited, then what comes.
static uint32_t take_waiting(struct lane *lane, uint32_t index, struct arrival *to, uint32_t room)
{
	uint32_t taken = 0;
	bool is_lost;
	struct frame frame;
	while (has_packets(lane) && take_first(lane, index, &frame)) {
		taken += take_stalled(lane, index, frame.at, to + taken, room - taken);
		if (!has_packets(lane)) { // the run ends with this window: it is held
			fifo_push(&lane->cables.stalled[index]->fifo, lane->out.chunks,
				  (uintptr_t)frame.owner);
			return taken;
		}
		if (!lane_stalls(lane, index, frame.at, (uintptr_t)frame.owner, &is_lost))
			taken += take_one(lane, index, &frame, to + taken, room - taken);
		else if (is_lost)
			lane->ports->ops->give(lane->ports, &frame.owner, 1);
	}
	return taken + take_stalled(lane, index, PS_NEVER, to + taken, room - taken);
}

// Takes the frames of one cable that arrive before the window's end; `to` has room for `room`.
static uint32_t take_cable(struct lane *lane, uint32_t index, struct arrival *to, uint32_t room)
{
	uint32_t taken = 0;
	struct frame frame;
	if (lane->cables.stalled[index] != NULL)
		return take_waiting(lane, index, to, room);
	while (has_packets(lane) && take_first(lane, index, &frame))
		taken += take_one(lane, index, &frame, to + taken, room - taken);
	return taken;
}

// ---------------------------------------------------------------- what machines leave behind

// Executes the place orders of a host: the payload must be what was sent there.
static void write_payload(struct lane *lane)
{
	for (uint32_t i = 0; i < lane->out.dma_write_count; i++) {
		const struct dma_write *order = &lane->out.dma_writes[i];
		uint32_t wrong = backing_dma_write(&lane->backing, order);
		if (order->payload == 0)
			continue;
		lane->run.payload_bytes_wrong += wrong;
		lane->run.payload_bytes_good += order->bytes - wrong;
	}
	lane->out.dma_write_count = 0;
}

// A switch makes no packets: what it gave back to the pool in this call are the ones it dropped.
static void give_drops(struct lane *lane, uint32_t returned, uint32_t fresh)
{
	const struct packet_pool *pool = lane->out.packets;
	check(pool->returned >= returned && pool->fresh == fresh);
	for (uint32_t i = returned; i < pool->returned; i++)
		lane->ports->ops->give(lane->ports, &lane->backing.held[pool->free[i]].owner, 1);
}

// The frame of a departure: a NIC's is written, a switch's is patched. False when there is no frame
// left.
static bool write_frame(struct lane *lane, bool is_host, uint32_t index, struct frame *ret)
{
	if (!is_host) {
		backing_patch(&lane->backing, index, ret);
		return true;
	}
	if (!lane->ports->ops->take(lane->ports, ret, 1))
		return false;
	backing_write(&lane->backing, index, ret);
	return true;
}

// Frames for one queue that wait to be sent together.
struct burst {
	struct frame frames[PORT_BURST];
	uint32_t count;
	uint32_t queue;
};

static void flush(struct lane *lane, struct burst *burst)
{
	if (burst->count == 0)
		return;
	struct ports *ports = lane->ports;
	uint64_t *news = lane->news_of[ports->queue_to[burst->queue]] + (burst->queue >> 6);
	uint32_t sent = ports->ops->send(ports, burst->queue, burst->frames, burst->count);
	check(sent == burst->count); // the queues hold all that a window can bring
	__atomic_fetch_or(news, UINT64_C(1) << (burst->queue & 63), __ATOMIC_RELAXED);
	burst->count = 0;
}

static void tap(struct lane *lane, uint32_t cable, const struct departure *departure,
		const struct frame *frame)
{
	uint32_t location = TAP_LOCATION(lane->cables.plan[cable], false);
	if (tap_listens(lane->taps, location, departure->start))
		tap_take(lane->taps, lane->index, location, departure->start,
			 packet_at(lane->out.packets, departure->packet), frame->bytes,
			 frame->length);
}

// Gives a frame to the ports, with others for the same queue.
static void send(struct lane *lane, const struct frame *frame, struct burst *burst)
{
	uint32_t cable = frame->cable & ~REORDER_QUEUE;
	if (lane->watch->watch != NULL)
		lane->watch->watch(lane->watch->watch_context,
				   &lane->world->cables[lane->cables.plan[cable]], frame->at,
				   frame->bytes, frame->length);
	uint32_t queue = ports_queue(lane->ports, cable);
	if (burst->count == PORT_BURST || (burst->count > 0 && burst->queue != queue))
		flush(lane, burst);
	burst->queue = queue;
	burst->frames[burst->count++] = *frame;
}

static void send_copy(struct lane *lane, const struct frame *frame, struct burst *burst)
{
	struct frame copy;
	if (!lane->ports->ops->take(lane->ports, &copy, 1)) {
		lane->out.limit = OUTBOX_NO_PACKET; // the run ends with this window
		lane->run.doubled--;
		return;
	}
	memcpy(copy.bytes, frame->bytes, frame->length);
	copy.length = frame->length;
	copy.cable = frame->cable | REORDER_QUEUE;
	copy.at = frame->at;
	send(lane, &copy, burst);
}

// Sends a frame over a cable with faults, or loses it; or over one to a cut-through switch.
static void send_faulty(struct lane *lane, const struct departure *departure, struct frame *frame,
			struct burst *burst)
{
	uint32_t index = frame->cable, to = lane->cables.cables[index].to_machine;
	struct cable_fate fate = lane_fate(lane, index, departure, frame->at);
	if (fate.drop != DROP_REASON_COUNT) {
		lane->ports->ops->give(lane->ports, &frame->owner, 1);
		return;
	}
	frame->at = cable_taken_at(&lane->cables.cables[index], departure->start, departure->bytes,
				   frame->at);
	if (fate.is_damaged)
		codec_damage(lane->codec, lane->world->machines[to].is_host, fate.place,
			     frame->bytes, frame->length);
	if (fate.is_doubled)
		send_copy(lane, frame, burst);
	if (fate.held_ps > 0) {
		frame->at += fate.held_ps;
		frame->cable |= REORDER_QUEUE;
	}
	send(lane, frame, burst);
}

// Sends one departure.
static void depart(struct lane *lane, uint32_t m, const struct departure *departure,
		   struct burst *burst)
{
	struct frame frame;
	uint32_t cable = lane_cable(lane, m, departure);
	if (!write_frame(lane, lane->world->machines[m].is_host, departure->packet, &frame)) {
		lane->out.limit = OUTBOX_NO_PACKET; // the run ends with this window
		lane->run.sent--;		    // it never left: not counted in
		lane->run.hops--;
		lane->window_sent--;
		backing_end(&lane->backing, departure->packet);
		return;
	}
	if (lane->world->machines[m].is_host)
		seen_left(&lane->sim->seen, m, packet_at(lane->out.packets, departure->packet));
	if (lane->taps != NULL)
		tap(lane, cable, departure, &frame);
	frame.at = lane_depart(lane, &lane->cables.cables[cable], departure);
	frame.cable = cable;
	if (lane->cables.cables[cable].is_special)
		send_faulty(lane, departure, &frame, burst);
	else
		send(lane, &frame, burst);
	backing_end(&lane->backing, departure->packet);
}

ps_t frames_run_machine(struct lane *lane, uint32_t m)
{
	const struct machine *machine = &lane->world->machines[m];
	struct burst burst;
	burst.count = 0;
	lane_gather(lane, m, take_cable, lane->gathered);
	struct inbox in = lane_inbox(lane, m, lane->gathered);
	uint32_t returned = lane->out.packets->returned, fresh = lane->out.packets->fresh;
	ps_t next = machine->run(machine->self, &in, lane->window_end, &lane->out);
	if (machine->is_host) {
		write_payload(lane);
		backing_give(&lane->backing, lane->gathered->arrivals, in.arrival_count);
	} else {
		give_drops(lane, returned, fresh);
	}
	if (lane->world->jobs.bytes != NULL)
		lane_count_jobs(lane, m);
	if (lane->world->links.counts != NULL)
		lane_count_links(lane, m);
	if (lane->world->packet_traces[lane->shard] != NULL)
		lane_keep_packets(lane, m);
	for (uint32_t i = 0; i < lane->out.count; i++)
		depart(lane, m, &lane->out.departures[i], &burst);
	flush(lane, &burst);
	return next;
}
