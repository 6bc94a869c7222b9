// SPDX-License-Identifier: Apache-2.0
// What frames cost on one core: two machines that exchange frames over ring ports, beside a bare
// loop over the same ports and frames that does nothing but the bytes of payload, ICRC and buffers.
// Not a driver: virtual time only counts packets, and nothing else is on the cables.

#include <errno.h>
#include <string.h>

#include <weft/core/check.h>

#include <weft/ports/codec.h>
#include <weft/ports/payload.h>
#include <weft/ports/port.h>
#include <weft/ports/ring_bench.h>
#include <weft/ports/tick.h>

#define CABLES 3     // data, answers, and the bare loop's
#define CABLE_BARE 2 // the other two are named by the end that sends
#define SPARE_FRAMES (4 * PORT_BURST)
#define SPARE_PLACES 4096 // of a cable: answers, and a burst on top
#define TARGET 1	  // of data
#define BARE_QP 0
#define BARE_RKEY 1
#define REGION_BYTES (UINT64_C(1) << 30)

// Frames of one burst, as they pass the stages.
struct burst {
	struct frame frames[PORT_BURST];
	struct wire_view views[PORT_BURST];
	struct payload_origin spots[PORT_BURST];
	uint32_t packets[PORT_BURST]; // PACKET_NONE: the frame is none
	uint32_t count;
};

// Of the frame that a packet came in.
struct held {
	uint8_t *payload;
	uint32_t bytes;
};

struct ring_bench {
	const struct ring_bench_options *options;
	struct ports ports;
	struct codec codec;
	struct outbox out;
	struct held *held; // [packets + 1]
	struct burst burst;
	void **data_path; // [options->data path] frames put aside, oldest first
	uint32_t data_path_at;
	uint32_t queued[CABLES];
	ps_t now;
	uint64_t at;		  // tick up to which time is accounted
	struct ring_slice *slice; // that is being measured
	struct ring_bench_result *result;
	// The bare loop.
	uint8_t head[128]; // headers of all its frames
	uint32_t head_bytes;
	struct wire_view view;
	uint64_t va_sent, va_received;
};

// All time since the last call was this stage's.
static void account(struct ring_bench *bench, enum ring_stage stage)
{
	uint64_t now = ticks();
	bench->slice->stage_ticks[stage] += now - bench->at;
	bench->at = now;
}

// ---------------------------------------------------------------- frames

// Gives frames back by way of the data path, which hands out the one that lay longest.
static void free_frames(struct ring_bench *bench, const struct burst *burst)
{
	void *owners[PORT_BURST];
	uint32_t count = 0;
	for (uint32_t i = 0; i < burst->count; i++) {
		void *owner = burst->frames[i].owner;
		if (bench->options->data_path > 0) {
			void *oldest = bench->data_path[bench->data_path_at];
			bench->data_path[bench->data_path_at] = owner;
			bench->data_path_at = bench->data_path_at + 1 < bench->options->data_path
				? bench->data_path_at + 1
				: 0;
			owner = oldest;
		}
		if (owner != NULL)
			owners[count++] = owner;
	}
	bench->ports.ops->give(&bench->ports, owners, count);
	account(bench, RING_BUFFERS);
}

static void clear_data_path(struct ring_bench *bench)
{
	for (uint32_t i = 0; i < bench->options->data_path; i++)
		if (bench->data_path[i] != NULL)
			bench->ports.ops->give(&bench->ports, &bench->data_path[i], 1);
}

static void take_frames(struct ring_bench *bench, struct burst *burst, uint32_t count)
{
	bool is_taken = bench->ports.ops->take(&bench->ports, burst->frames, count);
	check(is_taken); // the pool holds all that cables and data path can hold
	burst->count = count;
	account(bench, RING_BUFFERS);
}

static void send_frames(struct ring_bench *bench, uint32_t cable, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->count; i++) {
		burst->frames[i].cable = cable;
		burst->frames[i].at = bench->now;
	}
	uint32_t sent = bench->ports.ops->send(&bench->ports, ports_queue(&bench->ports, cable),
					       burst->frames, burst->count);
	check(sent == burst->count); // the rings hold the backlog
	bench->queued[cable] += burst->count;
	account(bench, RING_TX);
}

static void receive_frames(struct ring_bench *bench, uint32_t cable, struct burst *burst)
{
	burst->count = bench->ports.ops->receive(&bench->ports, ports_queue(&bench->ports, cable),
						 burst->frames, PORT_BURST);
	bench->queued[cable] -= burst->count;
	account(bench, RING_RX);
}

static void fill(struct ring_bench *bench, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->count; i++)
		if (burst->views[i].payload_bytes > 0)
			payload_fill(&burst->spots[i],
				     burst->frames[i].bytes + burst->views[i].payload_at,
				     burst->views[i].payload_bytes);
	account(bench, RING_FILL);
}

static void seal(struct ring_bench *bench, struct burst *burst)
{
	if (!bench->options->has_icrc)
		return;
	for (uint32_t i = 0; i < burst->count; i++)
		wire_seal(burst->frames[i].bytes, &burst->views[i]);
	account(bench, RING_SEAL);
}

static bool is_sealed(const struct frame *frame, const struct wire_view *view)
{
	const uint8_t *at = frame->bytes + view->icrc_at;
	uint32_t icrc = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		(uint32_t)at[3] << 24;
	return wire_icrc(frame->bytes, view) == icrc;
}

static void verify(struct ring_bench *bench, const struct payload_origin *spot, const uint8_t *at,
		   uint32_t bytes)
{
	uint32_t wrong = payload_wrong(spot, at, bytes);
	bench->result->payload_bytes_wrong += wrong;
	bench->result->payload_bytes_good += bytes - wrong;
	bench->slice->packets++;
}

// ---------------------------------------------------------------- the machines' loop

static void refuse_frame(struct ring_bench *bench, uint32_t *packet)
{
	bench->result->bad_frames++;
	packet_put(bench->out.packets, *packet);
	*packet = PACKET_NONE;
}

// Makes packets of frames.
static void parse(struct ring_bench *bench, struct burst *burst, uint32_t end)
{
	for (uint32_t i = 0; i < burst->count; i++) {
		const struct frame *frame = &burst->frames[i];
		struct wire_view *view = &burst->views[i];
		uint32_t index = burst->packets[i] = packet_get(bench->out.packets);
		check(index != PACKET_NONE);
		struct packet *packet = packet_at(bench->out.packets, index);
		if (wire_parse(&bench->codec.in_switch, frame->bytes, frame->length, packet,
			       view) != WIRE_FINE ||
		    packet->target != end) {
			refuse_frame(bench, &burst->packets[i]);
			continue;
		}
		packet->payload = packet->payload_bytes > 0 ? index : 0;
		bench->held[index] = (struct held){frame->bytes + view->payload_at,
						   view->payload_bytes};
	}
	account(bench, RING_PARSE);
}

// wire_parse() would do it, too; here it is seen apart.
static void check_icrc(struct ring_bench *bench, struct burst *burst)
{
	if (!bench->options->has_icrc)
		return;
	for (uint32_t i = 0; i < burst->count; i++)
		if (burst->packets[i] != PACKET_NONE &&
		    !is_sealed(&burst->frames[i], &burst->views[i]))
			refuse_frame(bench, &burst->packets[i]);
	account(bench, RING_CHECK);
}

static uint32_t gather(const struct ring_bench *bench, const struct burst *burst,
		       struct arrival *to)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < burst->count; i++)
		if (burst->packets[i] != PACKET_NONE)
			to[count++] = (struct arrival){bench->now, burst->packets[i], 0};
	return count;
}

// Runs a machine, which may send `room` packets.
static void run_machine(struct ring_bench *bench, uint32_t end, const struct burst *burst,
			uint32_t room)
{
	const struct machine *machine = &bench->options->ends[end];
	struct arrival arrivals[PORT_BURST];
	struct arrival_run run = {arrivals, gather(bench, burst, arrivals)};
	struct inbox in = {.runs = &run, .run_count = run.count > 0, .arrival_count = run.count};
	bench->out.count = 0;
	bench->out.dma_write_count = 0;
	bench->out.capacity = room;
	machine->run(machine->self, &in, bench->now + 1, &bench->out);
	check(bench->out.limit == OUTBOX_WITHIN);
	account(bench, RING_ENDPOINT);
}

static void write_payload(struct ring_bench *bench)
{
	for (uint32_t i = 0; i < bench->out.dma_write_count; i++) {
		const struct dma_write *order = &bench->out.dma_writes[i];
		const struct held *held = &bench->held[order->payload];
		struct payload_origin spot = {order->nic, order->qp, order->rkey, order->va};
		check(order->bytes == held->bytes);
		verify(bench, &spot, held->payload, held->bytes);
	}
	account(bench, RING_VERIFY);
}

// Writes the headers of what a machine sends.
static void build(struct ring_bench *bench, struct burst *burst)
{
	for (uint32_t i = 0; i < burst->count; i++) {
		uint32_t index = bench->out.departures[i].packet;
		const struct packet *packet = packet_at(bench->out.packets, index);
		burst->frames[i].length = codec_write_headers(
			&bench->codec, packet, burst->frames[i].bytes, &burst->views[i]);
		burst->spots[i] = (struct payload_origin){packet->target, packet->qpn,
							  packet->u.data.rkey, packet->u.data.va};
		packet_put(bench->out.packets, index);
	}
	account(bench, RING_BUILD);
}

// One end takes a burst and sends at most `room` frames. Returns how many it sent.
static uint32_t run_end(struct ring_bench *bench, uint32_t end, uint32_t room)
{
	struct burst *burst = &bench->burst;
	receive_frames(bench, 1 - end, burst);
	parse(bench, burst, end);
	check_icrc(bench, burst);
	run_machine(bench, end, burst, room);
	write_payload(bench);
	free_frames(bench, burst);
	if (bench->out.count == 0)
		return 0;
	take_frames(bench, burst, bench->out.count);
	build(bench, burst);
	fill(bench, burst);
	seal(bench, burst);
	send_frames(bench, end, burst);
	return burst->count;
}

static uint32_t room_on(const struct ring_bench *bench, uint32_t cable)
{
	uint32_t room = bench->options->backlog - bench->queued[cable];
	return room < PORT_BURST ? room : PORT_BURST;
}

static void run_ends(struct ring_bench *bench)
{
	uint32_t sent = run_end(bench, 0, room_on(bench, 0));
	bench->now += (ps_t)sent * bench->options->packet_ps;
	if (sent == 0 || bench->queued[0] >= bench->options->backlog)
		run_end(bench, 1, PORT_BURST);
}

static void drain_ends(struct ring_bench *bench)
{
	while (bench->queued[0] > 0 || bench->queued[1] > 0) {
		run_end(bench, 0, 0);
		run_end(bench, 1, PORT_BURST);
	}
}

// ---------------------------------------------------------------- the bare loop

static void send_bare(struct ring_bench *bench, uint32_t count)
{
	struct burst *burst = &bench->burst;
	take_frames(bench, burst, count);
	for (uint32_t i = 0; i < count; i++) {
		memcpy(burst->frames[i].bytes, bench->head, bench->head_bytes);
		burst->frames[i].length = bench->view.frame_bytes;
		burst->views[i] = bench->view;
		burst->spots[i] = (struct payload_origin){TARGET, BARE_QP, BARE_RKEY,
							  bench->va_sent};
		bench->va_sent = (bench->va_sent + bench->view.payload_bytes) % REGION_BYTES;
	}
	account(bench, RING_BUILD);
	fill(bench, burst);
	seal(bench, burst);
	send_frames(bench, CABLE_BARE, burst);
}

static void receive_bare(struct ring_bench *bench)
{
	struct burst *burst = &bench->burst;
	receive_frames(bench, CABLE_BARE, burst);
	if (bench->options->has_icrc) {
		for (uint32_t i = 0; i < burst->count; i++)
			bench->result->bad_frames += !is_sealed(&burst->frames[i], &bench->view);
		account(bench, RING_CHECK);
	}
	for (uint32_t i = 0; i < burst->count; i++) {
		struct payload_origin spot = {TARGET, BARE_QP, BARE_RKEY, bench->va_received};
		verify(bench, &spot, burst->frames[i].bytes + bench->view.payload_at,
		       bench->view.payload_bytes);
		bench->va_received = (bench->va_received + bench->view.payload_bytes) %
			REGION_BYTES;
	}
	account(bench, RING_VERIFY);
	free_frames(bench, burst);
}

static void run_bare(struct ring_bench *bench)
{
	send_bare(bench, room_on(bench, CABLE_BARE));
	if (bench->queued[CABLE_BARE] >= bench->options->backlog)
		receive_bare(bench);
}

static void drain_bare(struct ring_bench *bench)
{
	while (bench->queued[CABLE_BARE] > 0)
		receive_bare(bench);
}

// ---------------------------------------------------------------- opening, slices, the end

static int refuse_memory(struct refusal *refusal)
{
	return refuse(refusal, -ENOMEM, "the measurement does not fit into its memory");
}

// Frames as weft's NICs build them by default, in IPv6.
static void set_codec(struct ring_bench *bench)
{
	uint16_t payload = bench->options->payload_bytes;
	struct packet packet = {.target = TARGET,
				.opcode = PACKET_WRITE_MIDDLE,
				.payload_bytes = payload,
				.klass = PACKET_CLASS_DATA,
				.flags = PACKET_ECT | PACKET_TRIMMABLE};
	struct packet largest = packet;
	struct codec *codec = &bench->codec;
	largest.opcode = PACKET_WRITE_ONLY_IMM;
	wire_config_default(6, &codec->nic);
	codec->nic.has_tseth = true;
	codec->nic.full_payload_bytes = payload;
	codec->in_switch = codec->nic;
	codec->in_switch.icrc_unchecked = true;
	codec->frame_bytes_max = (uint32_t)wire_frame_bytes(&codec->nic, &largest);
	uint8_t frame[UINT16_MAX];
	codec_write_headers(codec, &packet, frame, &bench->view);
	bench->head_bytes = bench->view.payload_at;
	check(bench->head_bytes <= sizeof(bench->head));
	memcpy(bench->head, frame, bench->head_bytes);
}

static int draw(struct ring_bench *bench, struct arena *arena)
{
	uint32_t packets = bench->options->packets->capacity;
	bench->held = arena_draw(arena, ARENA_DRIVE, (size_t)packets + 1, sizeof(*bench->held));
	bench->data_path = arena_draw(arena, ARENA_DRIVE, bench->options->data_path,
				      sizeof(void *));
	bench->out = (struct outbox){
		.departures = arena_draw(arena, ARENA_DRIVE, PORT_BURST, sizeof(struct departure)),
		.dma_writes = arena_draw(arena, ARENA_DRIVE, PORT_BURST, sizeof(struct dma_write)),
		.dma_write_capacity = PORT_BURST,
		.packets = bench->options->packets,
		.chunks = bench->options->chunks,
	};
	return arena_has_failed(arena) ? -ENOMEM : 0;
}

static int open_ports(struct ring_bench *bench, struct arena *arena, struct refusal *refusal)
{
	struct port_cable cables[CABLES] = {0};
	for (uint32_t i = 0; i < CABLES; i++)
		cables[i].frames_max = bench->options->backlog + SPARE_PLACES;
	int rc = port_plan(&bench->ports, arena, cables, CABLES, CABLES, refusal);
	if (rc < 0)
		return rc;
	bench->ports.frames = 2 * bench->options->backlog + bench->options->data_path +
		SPARE_FRAMES;
	bench->ports.frame_bytes_max = bench->codec.frame_bytes_max;
	return port_dpdk_open(&bench->ports, arena, &bench->options->dpdk, refusal);
}

typedef void round_fn(struct ring_bench *bench);

static void run_slice(struct ring_bench *bench, round_fn *round, struct ring_slice *slice,
		      uint64_t length)
{
	bench->slice = slice;
	uint64_t start = bench->at = ticks();
	while (bench->at - start < length)
		round(bench);
	slice->ticks = bench->at - start;
}

// Until every frame of the pool was written, so that no slice pays for fresh memory. Ends, too,
// when nothing moves any more because something was lost.
static void warm_up(struct ring_bench *bench, round_fn *round)
{
	struct ring_slice *slice = bench->slice;
	uint64_t packets = 2ull * bench->ports.frames;
	slice->packets = 0;
	for (uint64_t i = 0; i < packets && slice->packets < packets; i++)
		round(bench);
}

static void run_slices(struct ring_bench *bench)
{
	struct ring_bench_result *result = bench->result;
	uint64_t length = result->ticks_per_s / 1000 * bench->options->slice_ms;
	struct ring_slice unused = {0};
	bench->slice = &unused;
	warm_up(bench, run_ends);
	warm_up(bench, run_bare);
	for (uint32_t i = 0; i < bench->options->slices; i++) {
		run_slice(bench, run_ends, &result->slices[RING_ENDPOINTS][i], length);
		run_slice(bench, run_bare, &result->slices[RING_BARE][i], length);
	}
	bench->slice = &unused;
	drain_ends(bench);
	drain_bare(bench);
}

static void conclude(struct ring_bench *bench)
{
	struct ring_bench_result *result = bench->result;
	struct port_counts counts;
	clear_data_path(bench);
	bench->ports.ops->count(&bench->ports, &counts);
	result->frames = bench->ports.frames;
	result->frame_bytes = bench->view.frame_bytes;
	result->sent = counts.sent;
	result->received = counts.received;
	result->missed = counts.missed;
	result->held = bench->ports.ops->taken(&bench->ports);
	bench->ports.ops->close(&bench->ports);
}

int ring_bench_run(const struct ring_bench_options *options, struct arena *arena,
		   struct ring_bench_result *ret, struct refusal *refusal)
{
	struct ring_bench *bench = arena_draw(arena, ARENA_DRIVE, 1, sizeof(*bench));
	if (bench == NULL)
		return refuse_memory(refusal);
	check(options->backlog >= PORT_BURST && options->slices <= RING_SLICES_MAX);
	bench->options = options;
	bench->result = ret;
	if (draw(bench, arena) < 0)
		return refuse_memory(refusal);
	set_codec(bench);
	int rc = open_ports(bench, arena, refusal);
	if (rc < 0)
		return rc;
	*ret = (struct ring_bench_result){.ticks_per_s = ticks_per_s(),
					  .has_cycles = TICK_IS_CYCLE};
	run_slices(bench);
	conclude(bench);
	return 0;
}
