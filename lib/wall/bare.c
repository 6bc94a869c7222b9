// SPDX-License-Identifier: Apache-2.0
// The bare loop. See bare.h.

#include <weft/wall/bare.h>

#include <string.h>

#include <weft/core/check.h>
#include <weft/ports/tick.h>
#include <weft/wire/wire_neighbour.h>

#include "loop.h"

#define ETH_BYTES 14u
#define WINDOW 256u	  // frames of a way that are under way
#define ANSWER_EACH 4u	  // frames, as a SACK is for 16 KiB
#define SILENT_NS 5000000 // after which frames that are not answered are lost
#define REST_NS 50000
#define STEPS 10
#define MARK UINT32_C(0x77656674)

enum what { DATA = 1, ANSWER = 2 };

struct head {
	uint8_t ether[ETH_BYTES];
	uint16_t what;
	uint32_t mark;
	uint64_t count; // DATA: frames of this way before it; ANSWER: frames that came by it
};

// One way, as seen from this end.
struct lane {
	uint64_t sent, answered, lost;
	uint64_t came, announced;
	int64_t moved_ns; // the last answer
};

struct bare {
	const struct bare_options *options;
	struct bare_counts *counts;
	struct lane lanes[64];
	uint64_t ticked, stage_ticks[WALL_STAGE_COUNT];
	int64_t first_ns, last_ns;
	bool is_ramping;
	bool is_over; // nothing more is sent
};

static void note(struct bare *bare, enum wall_stage stage)
{
	uint64_t now = ticks();
	bare->stage_ticks[stage] += now - bare->ticked;
	bare->ticked = now;
}

static void put_head(const struct bare *bare, uint32_t wall_port, uint8_t *to, uint16_t what,
		     uint64_t count)
{
	const struct bare_options *options = bare->options;
	struct head head = {.what = what, .mark = MARK, .count = count};
	uint8_t plane = (uint8_t)options->wall_ports[wall_port].port, target[6], source[6];
	wire_mac(options->wire, options->peer, plane, target);
	wire_mac(options->wire, options->nic, plane, source);
	wire_put_macs(head.ether, target, source);
	head.ether[12] = 0x88; // EtherType for local experiments
	head.ether[13] = 0xb5;
	memcpy(to, &head, sizeof(head));
}

// The word that the payload of a frame is full of.
static uint64_t word_of(uint64_t count)
{
	return UINT64_C(0x0101010101010101) * (count & 0xff);
}

static bool is_right(const uint8_t *payload, uint32_t bytes, uint64_t count)
{
	uint64_t any = 0, word = word_of(count), read;
	uint32_t at = 0;
	for (; at + sizeof(read) <= bytes; at += sizeof(read)) {
		memcpy(&read, payload + at, sizeof(read));
		any |= read ^ word;
	}
	for (; at < bytes; at++)
		any |= payload[at] ^ (uint8_t)word;
	return any == 0;
}

// ---------------------------------------------------------------- one end

// Time at full rate that the time since the start is worth, in a tenth.
static int64_t worth_ns(int64_t now, int64_t ramp_ns)
{
	int64_t each = ramp_ns / STEPS, step = each > 0 && now < ramp_ns ? now / each : STEPS;
	int64_t behind = now - (step < STEPS ? step * each : ramp_ns);
	return each * step * (step + 1) / 2 + behind * (step < STEPS ? step + 1 : STEPS);
}

// Frames that a way may have sent by now.
static uint64_t frames_due(const struct bare_options *options, int64_t now)
{
	uint64_t bits = (options->frame_bytes + WIRE_LINE_BYTES) * UINT64_C(8);
	if (options->rate_bps == 0)
		return UINT64_MAX;
	double s = (double)worth_ns(now, options->ramp_ns) / STEPS / 1e9;
	return (uint64_t)(s * (double)options->rate_bps / (double)bits);
}

// Sends what a way's window lets go. Returns how many frames.
static uint32_t send_some(struct bare *bare, uint32_t wall_port, int64_t now)
{
	const struct bare_options *options = bare->options;
	struct lane *lane = &bare->lanes[wall_port];
	struct frame frames[PORT_BURST];
	uint64_t open = WINDOW - (lane->sent - lane->lost - lane->answered);
	uint64_t due = frames_due(options, now);
	open = due - lane->sent < open ? due - lane->sent : open; // never more than is due was sent
	uint32_t count = open < PORT_BURST ? (uint32_t)open : PORT_BURST;
	if (count < PORT_BURST / 4 || !options->ports->ops->take(options->ports, frames, count))
		return 0;
	bare->first_ns = bare->first_ns == 0 ? now : bare->first_ns;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t head = options->frame_bytes - options->payload_bytes;
		frames[i].length = options->frame_bytes;
		put_head(bare, wall_port, frames[i].bytes, DATA, lane->sent + i);
		memset(frames[i].bytes + head, (int)((lane->sent + i) & 0xff),
		       options->payload_bytes);
	}
	note(bare, WALL_STAGE_BUILD);
	uint32_t sent = options->ports->ops->send(
		options->ports, options->wall_ports[wall_port].tx_queue, frames, count);
	for (uint32_t i = sent; i < count; i++)
		options->ports->ops->give(options->ports, &frames[i].owner, 1);
	if (sent > 0 && lane->sent - lane->lost == lane->answered)
		lane->moved_ns = now;
	lane->sent += sent;
	note(bare, WALL_STAGE_SEND);
	return sent;
}

static void answer(struct bare *bare, uint32_t wall_port)
{
	const struct bare_options *options = bare->options;
	struct lane *lane = &bare->lanes[wall_port];
	struct frame frame;
	if (lane->came - lane->announced < ANSWER_EACH ||
	    !options->ports->ops->take(options->ports, &frame, 1))
		return;
	frame.length = 64;
	put_head(bare, wall_port, frame.bytes, ANSWER, lane->came);
	if (options->ports->ops->send(options->ports, options->wall_ports[wall_port].tx_queue,
				      &frame, 1) == 1)
		lane->announced = lane->came;
	else
		options->ports->ops->give(options->ports, &frame.owner, 1);
}

// ---------------------------------------------------------------- what comes

static void hear(struct bare *bare, uint32_t wall_port, const struct frame *frame, int64_t now)
{
	const struct bare_options *options = bare->options;
	struct lane *lane = &bare->lanes[wall_port];
	struct head head;
	if (frame->length < sizeof(head))
		return;
	memcpy(&head, frame->bytes, sizeof(head));
	if (head.mark != MARK)
		return;
	if (head.what == DATA && !options->sends && frame->length == options->frame_bytes) {
		bare->first_ns = bare->first_ns == 0 ? now : bare->first_ns;
		bare->counts->wrong += !is_right(frame->bytes + options->frame_bytes -
							 options->payload_bytes,
						 options->payload_bytes, head.count);
		lane->came++;
		bare->last_ns = now;
		answer(bare, wall_port);
	} else if (head.what == ANSWER && options->sends && head.count > lane->answered &&
		   head.count <= lane->sent) {
		lane->answered = head.count;
		if (lane->lost > lane->sent - lane->answered) // they came after all
			lane->lost = lane->sent - lane->answered;
		lane->moved_ns = bare->last_ns = now;
	}
}

static uint32_t receive_some(struct bare *bare, uint32_t wall_port, int64_t now)
{
	const struct bare_options *options = bare->options;
	struct frame frames[PORT_BURST];
	void *owners[PORT_BURST];
	uint32_t count = options->ports->ops->receive(
		options->ports, options->wall_ports[wall_port].rx_queue, frames, PORT_BURST);
	if (count == 0)
		return 0;
	note(bare, WALL_STAGE_RECEIVE);
	for (uint32_t i = 0; i < count; i++) {
		hear(bare, wall_port, &frames[i], now);
		owners[i] = frames[i].owner;
	}
	options->ports->ops->give(options->ports, owners, count);
	note(bare, WALL_STAGE_PLACE);
	return count;
}

// Frames that nobody answered for a while are given up, so that others may go.
static void give_up(struct lane *lane, int64_t now)
{
	if (lane->sent - lane->lost - lane->answered > 0 && now - lane->moved_ns > SILENT_NS) {
		lane->lost = lane->sent - lane->answered;
		lane->moved_ns = now;
	}
}

// ---------------------------------------------------------------- turn after turn

static uint64_t frames_so_far(const struct bare *bare)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < bare->options->wall_port_count; i++)
		sum += bare->options->sends ? bare->lanes[i].answered : bare->lanes[i].came;
	return sum;
}

// The ramp is over: what is measured begins.
static void end_ramp(struct bare *bare)
{
	bare->is_ramping = false;
	bare->counts->ramp_frames = frames_so_far(bare);
	bare->first_ns = bare->options->ramp_ns;
}

static bool turn(struct bare *bare, int64_t now)
{
	uint32_t moved = 0;
	bare->ticked = ticks();
	for (uint32_t wall_port = 0; wall_port < bare->options->wall_port_count; wall_port++) {
		moved += receive_some(bare, wall_port, now);
		if (!bare->options->sends || bare->is_over)
			continue;
		moved += send_some(bare, wall_port, now);
		give_up(&bare->lanes[wall_port], now);
	}
	return moved > 0;
}

static bool has_ended(const struct wall_control *control, enum wall_end *ret)
{
	static const enum wall_end ends[] = {WALL_END_DONE, WALL_END_DONE, WALL_END_STOPPED,
					     WALL_END_LOST};
	enum wall_news news = (enum wall_news) * control->news;
	if (control->stop != NULL && *control->stop != 0) {
		*ret = WALL_END_STOPPED;
		return true;
	}
	*ret = ends[news];
	return news != WALL_QUIET;
}

static enum wall_end run(struct bare *bare, const struct wall_control *control, struct rest *rest)
{
	int64_t start_ns = control->clock(control->clock_context);
	bool is_reported = false;
	enum wall_end end;
	while (!has_ended(control, &end)) {
		int64_t now = control->clock(control->clock_context) - start_ns + 1;
		bool was_busy = turn(bare, now);
		if (bare->is_ramping && now > bare->options->ramp_ns)
			end_ramp(bare);
		bare->is_over = now > bare->options->ramp_ns + bare->options->lasts_ns;
		if (!is_reported && (!bare->options->sends || bare->is_over)) {
			is_reported = true;
			control->done(control->done_context);
		}
		if (was_busy)
			rest_end(rest);
		else
			rest_take(rest, REST_NS);
	}
	return end;
}

enum wall_end bare_run(const struct bare_options *options, const struct wall_control *control,
		       struct bare_counts *ret)
{
	struct bare bare = {.options = options, .counts = ret, .is_ramping = options->ramp_ns > 0};
	struct rest rest;
	check(options->wall_port_count <= sizeof(bare.lanes) / sizeof(*bare.lanes));
	check(options->frame_bytes >= options->payload_bytes + sizeof(struct head));
	*ret = (struct bare_counts){0};
	rest_init(&rest, control->owns_core, REST_NS);
	uint64_t start = ticks();
	int64_t start_ns = control->clock(control->clock_context);
	enum wall_end end = run(&bare, control, &rest);
	int64_t took_ns = control->clock(control->clock_context) - start_ns;
	uint64_t took = ticks() - start;
	for (uint32_t i = 0; i < options->wall_port_count; i++)
		ret->lost += bare.lanes[i].lost;
	ret->frames = frames_so_far(&bare) - ret->ramp_frames;
	ret->took_ns = bare.last_ns - bare.first_ns;
	for (int i = 0; i < WALL_STAGE_COUNT && took > 0; i++)
		ret->stage_ns[i] = (double)bare.stage_ticks[i] * (double)took_ns / (double)took;
	return end;
}
