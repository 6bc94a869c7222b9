// SPDX-License-Identifier: Apache-2.0
// Before traffic: how long a round trip through both loops is, and how late a loop comes to look.
// What a scenario says of its fabric (microseconds) would repeat packets that are only waited for.
//
// Each host sends to the next one under load, then pings it packet by packet; of a pair or an
// incast to host 0. The pings meet loops that do nothing else. Under load a packet also waits for
// a burst of each port at either end, and the window has to fill that time, too.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/order.h>
#include <weft/files/files.h>
#include <weft/wall/times.h>
#include <weft/workload/program.h>

#include "host.h"

#define LOAD_MESSAGES 128u
#define LOAD_BYTES 65536u
#define LOAD_DEPTH 8u
#define PINGS 300u
#define OPS (2 * LOAD_MESSAGES + 4 * PINGS) // of one host and its next
#define EDGES (LOAD_MESSAGES + 2 * PINGS + LOAD_DEPTH)
#define RTT_FIRST (100 * PS_PER_US) // until they are known
#define HOLE_FIRST (20 * PS_PER_MS)
#define RTO_FIRST (200 * PS_PER_MS)

// What a host tells of itself.
struct reported {
	ps_t rtt_ps, turn_ps, lateness_ps;
};

// The part of host `from`, which sends to `to`. Its operations lie in a row.
static void add_part(struct program *program, uint32_t from, uint32_t to, uint32_t bytes)
{
	uint32_t answered = OP_NONE, load = program->op_count;
	for (uint32_t i = 0; i < LOAD_MESSAGES; i++) {
		program_receive(program, to, from, 0, LOAD_BYTES, 0, false);
		uint32_t send = program_send(program, from, to, 0, LOAD_BYTES, 0);
		program_wait(program, send, i < LOAD_DEPTH ? OP_NONE : send - 2 * LOAD_DEPTH);
	}
	for (uint32_t i = 0; i < PINGS; i++) {
		uint32_t arrived = program_receive(program, to, from, 1, bytes, 0, false);
		uint32_t ping = program_send(program, from, to, 1, bytes, 0);
		for (uint32_t k = 0; i == 0 && k < LOAD_DEPTH; k++)
			program_wait(program, ping, load + 2 * (LOAD_MESSAGES - k) - 1);
		program_wait(program, ping, answered);
		answered = program_receive(program, from, to, 2, bytes, 0, false);
		program_wait(program, program_send(program, to, from, 2, bytes, 0), arrived);
	}
}

static int make_program(struct call *call, struct host_run *host_run)
{
	struct program *program;
	struct arena arena;
	uint32_t hosts = call->meeting.options.count, ops = OPS * hosts, edges = EDGES * hosts;
	host_run->program_bytes = ((size_t)program_bytes(hosts, ops, edges) + 63) & ~(size_t)63;
	host_run->program_memory = memory_reserve(host_run->program_bytes);
	if (host_run->program_memory == NULL)
		return refuse(&call->refusal, -ENODEV, "no memory for a test run");
	arena_init(&arena, host_run->program_memory, host_run->program_bytes);
	int rc = program_create(&program, &arena, hosts, ops, edges, &call->refusal);
	if (rc < 0)
		return rc;
	uint32_t per_host = call->scenario.fabric.nics_per_host;
	for (uint32_t host = 0; host < hosts; host++)
		program->nics[host] = host * per_host;
	for (uint32_t host = 0; host < hosts; host++)
		add_part(program, host, call_next(call, host),
			 call->scenario.transport.payload_bytes);
	call->scenario.traffic.kind = TRAFFIC_GOAL;
	call->scenario.traffic.program = program;
	call->scenario.watch.has_operations = true;
	return program_seal(program, &arena, &call->refusal);
}

// The first bursts fault the memory of their frames in, which takes several times as long: a turn
// under load is that of the fastest tenth.
static void measure(const struct call *call, const struct host_run *host_run, struct reported *ret)
{
	ps_t took[PINGS];
	const struct op_time *times = host_run->world.op_times + (size_t)call->index * OPS +
		2 * LOAD_MESSAGES;
	for (uint32_t i = 0; i < PINGS; i++, times += 4)
		took[i] = times[2].end_ps - times[1].begin_ps;
	qsort(took, PINGS, sizeof(*took), order_int64);
	const struct wall_counts *counts = wall_counts(host_run->wall);
	const struct topology *topology = &host_run->world.topology;
	ret->rtt_ps = took[PINGS / 2];
	ret->turn_ps = counts->burst_ns->total == 0
		? 0
		: (ps_t)hist_quantile(counts->burst_ns, 100000) * PS_PER_NS * topology->planes *
			topology->nics_per_host;
	ret->lateness_ps = hist_quantile(counts->turn_ns, 999000) * PS_PER_NS;
}

// The times that follow, where the scenario leaves them open.
static void set_times(struct call *call, struct transport_config *transport)
{
	struct before_traffic *before_traffic = &call->before_traffic;
	ps_t rtt_ps = before_traffic->rtt_ps + 2 * before_traffic->turn_ps;
	struct wall_times times = wall_times(rtt_ps, before_traffic->lateness_ps);
	if (before_traffic->sets_rtt)
		transport->cc.base_rtt_ps = rtt_ps + 2 * before_traffic->lag_ps;
	if (before_traffic->sets_hole)
		transport->hole_age_ps = times.hole_age_ps;
	if (before_traffic->sets_rto)
		transport->rto_ps = times.rto_ps;
	before_traffic->is_rto_short = before_traffic->sets_rto && times.is_rto_short;
}

static int refuse_end(struct call *call, enum wall_end end)
{
	static const char *const whys[] = {
		[WALL_END_STOPPED] = "another host stopped while round trips were measured",
		[WALL_END_FAILED] = "a QP went to ERROR while round trips were measured: its peer "
				    "did not answer",
		[WALL_END_LOST] =
			"another host went or fell silent while round trips were measured",
	};
	if (end == WALL_END_STOPPED && *signals_stop() != 0)
		return refuse(&call->refusal, -EINTR, "interrupted while it measured round trips");
	return refuse(
		&call->refusal, -ECONNRESET,
		whys[end == WALL_END_STOPPED || end == WALL_END_FAILED ? end : WALL_END_LOST]);
}

static int perform(struct call *call)
{
	struct reported mine, all[MEETING_HOSTS_MAX];
	struct host_run host_run = {0};
	int rc = make_program(call, &host_run);
	if (rc == 0)
		rc = host_run_run(call, &host_run, NULL);
	if (rc == 0 && host_run.end != WALL_END_DONE)
		rc = refuse_end(call, host_run.end);
	if (rc == 0) {
		measure(call, &host_run, &mine);
		call->before_traffic.drained = host_run.drained;
		rc = meeting_share(&call->meeting, &mine, all, sizeof(mine), &call->refusal);
	}
	for (uint32_t i = 0; rc == 0 && i < call->meeting.options.count; i++) {
		call->before_traffic.rtt_ps = ps_max(call->before_traffic.rtt_ps, all[i].rtt_ps);
		call->before_traffic.turn_ps = ps_max(call->before_traffic.turn_ps, all[i].turn_ps);
		call->before_traffic.lateness_ps = ps_max(call->before_traffic.lateness_ps,
							  all[i].lateness_ps);
	}
	setup_world_free(&host_run);
	return rc;
}

int before_traffic_run(struct call *call)
{
	struct scenario *scenario = &call->scenario;
	struct transport_config *transport = &scenario->transport;
	const struct traffic_config traffic = scenario->traffic;
	const struct watch_config watch = scenario->watch;
	const uint32_t faults = scenario->fault_count; // whose times count from the traffic's start
	call->before_traffic = (struct before_traffic){.sets_rtt = transport->cc.base_rtt_ps == 0,
						       .sets_hole = transport->hole_age_ps < 0,
						       .sets_rto = !scenario->has_rto};
	if (call->before_traffic.sets_rtt)
		transport->cc.base_rtt_ps = RTT_FIRST;
	if (call->before_traffic.sets_hole)
		transport->hole_age_ps = HOLE_FIRST;
	if (call->before_traffic.sets_rto)
		transport->rto_ps = RTO_FIRST;
	scenario->fault_count = 0;
	int rc = perform(call);
	scenario->fault_count = faults;
	scenario->traffic = traffic;
	scenario->watch = watch;
	if (rc == 0 && port_device_time(&call->ports, clocks_now_ns, NULL) > 0)
		call->before_traffic.lag_ps = ps_min(call->before_traffic.lateness_ps, LAG_PS);
	set_times(call, transport);
	return rc;
}
