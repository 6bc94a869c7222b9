// SPDX-License-Identifier: Apache-2.0
// A turn of the loop in wall time.

#include <weft/host/host.h>

#include "loop.h"

#define BURSTS 2u	   // of each port in a turn: so much is still cached when it is placed
#define PACKETS_SPARE 256u // left to the host: what it sends needs some
#define CLOCKS_PS (100 * PS_PER_MS) // between two looks at clocks of devices
#define HOLD_FRAMES 64u		    // that wait for a port before its line is held

// ---------------------------------------------------------------- what came

static void give(struct wall *wall, const struct frame *frame)
{
	void *owner = frame->owner;
	wall->options.ports->ops->give(wall->options.ports, &owner, 1);
}

static void tap(struct wall *wall, uint32_t cable, uint32_t packet, const struct frame *frame,
		ps_t at)
{
	uint32_t location = TAP_LOCATION(cable, false);
	if (!tap_listens(wall->taps, location, at))
		return;
	tap_take(wall->taps, 0, location, at, packet_at(wall->out.packets, packet), frame->bytes,
		 frame->length);
	tap_window_end(wall->taps); // its buffers are for windows, which are shorter than turns
}

#define NO_PORT UINT32_MAX

// The port of the host that a packet which came by `way` is for. A way that joins two hosts alone
// has no switch, so it carries what is for any NIC of this host in its plane.
static uint32_t port_of(const struct wall *wall, const struct packet *packet,
			const struct wall_port *wall_port)
{
	uint32_t planes = wall->host->planes, nic = packet->target - wall->host->first_nic;
	uint32_t port = nic * planes + packet->plane;
	if (nic >= wall->host->nic_count || packet->plane != wall_port->port % planes ||
	    packet->source >= wall->world->topology.nics)
		return NO_PORT;
	return port == wall_port->port || wall_port->peer != WALL_ANY_HOST ? port : NO_PORT;
}

static void take(struct wall *wall, const struct line *line, const struct frame *frame, ps_t at)
{
	uint32_t packet;
	enum wire_reason reason = backing_read(&wall->backing, &wall->codec.nic, frame, &packet);
	if (reason != WIRE_FINE) {
		if (!neighbour_take(wall, (uint32_t)(line - wall->lines), frame))
			other_count(wall, frame, reason);
		give(wall, frame);
		return;
	}
	uint32_t port = port_of(wall, packet_at(wall->out.packets, packet), &line->wall_port);
	if (port == NO_PORT) {
		wall->counts.frames_strange++;
		packet_put(wall->out.packets, packet);
		give(wall, frame);
		return;
	}
	if (wall->taps != NULL)
		tap(wall, wall->cable_in[port], packet, frame, at);
	enum rc_request request = rc_request_of(packet_at(wall->out.packets, packet)->opcode);
	if (request != RC_REQUEST_COUNT)
		wall->counts.requests[request]++;
	if (link_faults_take(&wall->faults_in[port], at)) {
		wall->counts.frames_faulted++;
		packet_put(wall->out.packets, packet);
		give(wall, frame);
		return;
	}
	seen_came(&wall->seen, wall->options.host, packet_at(wall->out.packets, packet),
		  wall->backing.held[packet].view.hop_limit);
	wall->arrivals[wall->arrival_count++] = (struct arrival){at, packet, port};
}

static uint32_t packets_left(const struct wall *wall)
{
	return wall->out.packets->capacity - packet_pool_taken(wall->out.packets);
}

static void receive_line(struct wall *wall, const struct line *line, ps_t at)
{
	struct ports *ports = wall->options.ports;
	struct frame frames[PORT_BURST];
	for (uint32_t burst = 0; burst < BURSTS; burst++) {
		if (packets_left(wall) < PORT_BURST + PACKETS_SPARE)
			return;
		uint32_t count = ports->ops->receive(ports, line->wall_port.rx_queue, frames,
						     PORT_BURST);
		wall->counts.frames_received += count;
		if (count > 0)
			account(wall, WALL_STAGE_RECEIVE);
		for (uint32_t i = 0; i < count; i++)
			take(wall, line, &frames[i], at);
		if (count > 0)
			account(wall, WALL_STAGE_READ);
		if (count < PORT_BURST)
			return;
	}
}

// All that came, as one run for each port of the host; all of it is here at `at`.
static void receive(struct wall *wall, ps_t at)
{
	wall->run_count = wall->arrival_count = 0;
	for (uint32_t i = 0; i < wall->line_count;) {
		uint32_t port = wall->lines[i].wall_port.port, before = wall->arrival_count;
		for (; i < wall->line_count && wall->lines[i].wall_port.port == port; i++)
			receive_line(wall, &wall->lines[i], at);
		if (wall->arrival_count > before)
			wall->runs[wall->run_count++] = (struct arrival_run){
				&wall->arrivals[before], wall->arrival_count - before};
	}
	if (wall->arrival_count > wall->counts.burst_max)
		wall->counts.burst_max = wall->arrival_count;
}

// ---------------------------------------------------------------- what leaves

// Names a packet as its peer does, who is not of this world.
static void address_foreign(const struct wall *wall, struct packet *packet)
{
	if (packet->qpn >= wall->options.foreign_count)
		return;
	const struct wall_foreign *foreign = &wall->options.foreign[packet->qpn];
	packet->qpn = foreign->qpn;
	if (packet->payload_bytes == 0)
		return;
	packet->u.data.rkey = foreign->rkey;
	packet->u.data.va += foreign->address;
}

// `frame` is for it; its owner is NULL where there was none left.
static void depart(struct wall *wall, const struct departure *departure, struct frame *frame,
		   ps_t now)
{
	struct packet *packet = packet_at(wall->out.packets, departure->packet);
	uint32_t to = packet->target / wall->world->topology.nics_per_host;
	uint32_t hosts = wall->world->topology.hosts;
	uint32_t line = wall->line_of[departure->port * hosts + to];
	address_foreign(wall, packet);
	if (frame->owner == NULL) {
		wall->counts.frames_missing++; // as if it was lost on its way
		backing_end(&wall->backing, departure->packet);
		return;
	}
	seen_left(&wall->seen, wall->options.host, packet);
	backing_write(&wall->backing, departure->packet, frame);
	neighbour_address(wall, packet, line, frame);
	if (wall->taps != NULL)
		tap(wall, wall->cable_out[departure->port], departure->packet, frame, now);
	backing_end(&wall->backing, departure->packet);
	if (link_faults_take(&wall->faults_out[departure->port], now)) {
		wall->counts.frames_faulted++;
		give(wall, frame);
		return;
	}
	frame->at = wall->options.lag_ps > 0 ? departure->start + wall->options.lag_ps : 0;
	line_put(&wall->lines[line], wall->options.ports, frame, &wall->counts);
}

static void flush(struct wall *wall, ps_t now)
{
	for (uint32_t i = 0; i < wall->line_count; i++) {
		struct line *line = &wall->lines[i];
		line_flush(line, wall->options.ports, now, wall->options.dead_ps, &wall->counts);
		if (line_count(line) < HOLD_FRAMES)
			continue;
		const struct nic *nic =
			&wall->host->nics[wall->host->nic_of_port[line->wall_port.port]];
		host_hold_line(wall->host, line->wall_port.port,
			       now + line_ps(nic->line, line->bytes));
	}
}

// Frames are taken many at once, so that what is cold of them is waited for once. Each burst is
// sent before the next is built: the peer works on it meanwhile, and it is still cached here.
static void depart_all(struct wall *wall, ps_t now)
{
	struct ports *ports = wall->options.ports;
	struct frame frames[PORT_BURST];
	for (uint32_t done = 0, count; done < wall->out.count; done += count) {
		count = wall->out.count - done;
		count = count < PORT_BURST ? count : PORT_BURST;
		if (!ports->ops->take(ports, frames, count))
			for (uint32_t i = 0; i < count; i++)
				if (!ports->ops->take(ports, &frames[i], 1))
					frames[i].owner = NULL;
		for (uint32_t i = 0; i < count; i++)
			depart(wall, &wall->out.departures[done + i], &frames[i], now);
		account(wall, WALL_STAGE_BUILD);
		flush(wall, now);
		account(wall, WALL_STAGE_SEND);
	}
	wall->out.count = 0;
}

// ---------------------------------------------------------------- the machine

static void write_payload(struct wall *wall)
{
	for (uint32_t i = 0; i < wall->out.dma_write_count; i++) {
		const struct dma_write *order = &wall->out.dma_writes[i];
		uint32_t wrong = backing_dma_write(&wall->backing, order);
		if (order->payload == 0)
			continue;
		wall->counts.payload_bytes_wrong += wrong;
		wall->counts.payload_bytes_good += order->bytes - wrong;
	}
}

// Runs the machine up to `until`, with what came if that is before it.
static void run(struct wall *wall, ps_t until, uint32_t runs, uint32_t arrivals)
{
	struct inbox in = {.runs = wall->runs,
			   .run_count = runs,
			   .arrival_count = arrivals,
			   .scratch = {wall->scratch[0], wall->scratch[1]}};
	wall->next = wall->machine.run(wall->machine.self, &in, until, &wall->out);
	wall->until = until;
	if (wall->out.signal_count > 0)
		fired_tell(wall);
	account(wall, WALL_STAGE_MACHINE);
	write_payload(wall);
	backing_give(&wall->backing, wall->arrivals, arrivals);
	account(wall, WALL_STAGE_PLACE);
	wall->out.dma_write_count = 0;
	if (wall->out.count > 0)
		depart_all(wall, until);
	else
		flush(wall, until);
}

// What was due since the last turn, slice by slice, and then what came, which is here at `at`.
static void catch_up(struct wall *wall, ps_t at)
{
	wall->until = ps_max(wall->until, ps_min(wall->next, at)); // nothing to do before
	while (at - wall->until > wall->slice_ps)
		run(wall, wall->until + wall->slice_ps, 0, 0);
	run(wall, at + 1, wall->run_count, wall->arrival_count);
}

// ---------------------------------------------------------------- a turn

static bool has_backlog(const struct wall *wall)
{
	for (uint32_t i = 0; i < wall->line_count; i++)
		if (line_count(&wall->lines[i]) > 0)
			return true;
	return false;
}

// A turn that took too long: the host did nothing meanwhile, and goes on at `at`.
static void stall(struct wall *wall, ps_t at, ps_t took_ps)
{
	if (took_ps <= wall->options.stall_ps)
		return;
	wall->counts.stalls++;
	wall->counts.stalled_ps += took_ps;
	host_resume(wall->host, at);
	wall->until = wall->next = at;
}

// Whether they still agree with ours, where frames leave by them.
static void look_at_clocks(struct wall *wall, ps_t at)
{
	struct ports *ports = wall->options.ports;
	if (wall->options.lag_ps == 0 || at < wall->clocks_at)
		return;
	wall->clocks_at = at + CLOCKS_PS;
	if (ports->ops->keep != NULL)
		ports->ops->keep(ports);
}

// The turn before this one took so long.
static void count_burst(struct wall *wall, ps_t took_ps)
{
	uint64_t total = wall->counts.frames_received + wall->counts.frames_sent;
	int64_t moved = (int64_t)(total - wall->moved_before);
	if (moved >= PORT_BURST)
		hist_add(&wall->burst_ns, took_ps / PS_PER_NS * PORT_BURST / moved);
	wall->moved_before = total;
}

bool wall_turn(struct wall *wall, ps_t now)
{
	ps_t at = ps_max(wall->until, now), took_ps = now - wall->looked_at;
	wall->counts.turns++;
	count_burst(wall, took_ps);
	wall->ticked = ticks();
	receive(wall, at);
	stall(wall, at, took_ps);
	wall->looked_at = now;
	link_look(wall, at);
	look_at_clocks(wall, at);
	fired_hear(wall, at);
	bool is_due = wall->arrival_count > 0 || wall->next <= now;
	if (is_due)
		catch_up(wall, at);
	else if (has_backlog(wall))
		flush(wall, now);
	else
		return false;
	hist_add(&wall->turn_ns, took_ps / PS_PER_NS);
	return true;
}

uint64_t wall_drain(struct wall *wall)
{
	struct ports *ports = wall->options.ports;
	struct frame frames[PORT_BURST];
	uint64_t drained = 0;
	for (uint32_t i = 0; i < wall->line_count; i++) {
		uint32_t count;
		while ((count = ports->ops->receive(ports, wall->lines[i].wall_port.rx_queue,
						    frames, PORT_BURST)) > 0) {
			for (uint32_t k = 0; k < count; k++)
				give(wall, &frames[k]);
			drained += count;
		}
	}
	wall->missed_before = missed_by_ports(wall); // others may send before this host begins
	return drained;
}

// The last credits of a ring are no work of the rank's, but its neighbour counts them: who leaves
// before they have arrived would have them lost.
bool wall_is_done(const struct wall *wall)
{
	if (wall->host->record->work_done != wall->work_total)
		return false;
	for (uint32_t i = 0; i < wall->host->nic_count; i++)
		if (wall->host->nics[i].endpoint != NULL &&
		    !endpoint_has_completed(wall->host->nics[i].endpoint))
			return false;
	return true;
}

struct wall_work wall_work(const struct wall *wall)
{
	return (struct wall_work){wall->host->record->work_done, wall->work_total};
}

uint64_t wall_qps_failed(const struct wall *wall)
{
	uint64_t failed = 0;
	for (uint32_t i = 0; i < wall->host->nic_count; i++)
		if (wall->host->nics[i].endpoint != NULL)
			failed += endpoint_counters(wall->host->nics[i].endpoint)->qps_failed;
	return failed;
}

const struct seen *wall_seen(const struct wall *wall)
{
	return &wall->seen;
}

const struct world *wall_world(const struct wall *wall)
{
	return wall->world;
}

const struct wall_counts *wall_counts(const struct wall *wall)
{
	return &wall->counts;
}
