// SPDX-License-Identifier: Apache-2.0
// From a scenario to machines and cables: knows transport, fabric and workload at once.
//   build/         draws everything from one arena, then it is sealed
//   fast_forward/  jumps over steady states    outcome/  what was measured, added up after the run
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/cc/cc_derived.h>
#include <weft/core/machine.h>
#include <weft/core/refusal.h>
#include <weft/fabric/fabric_capacity.h>
#include <weft/host/outcome.h>
#include <weft/host/world_program.h>
#include <weft/measure/measure.h>
#include <weft/measure/measure_packet_trace.h>
#include <weft/measure/measure_racks.h>
#include <weft/scenario/scenario.h>
#include <weft/transport/transport.h>
#include <weft/workload/coll_stream.h>
#include <weft/workload/trace_simai.h>
#include <weft/world/world_audit.h>
#include <weft/world/world_cables.h>
#include <weft/world/world_links.h>
#include <weft/world/world_pause.h>
#include <weft/world/world_shards.h>

struct world_host;	 // host.h
struct opgraph_host;	 // opgraph_host.h
struct coll_stream_host; // coll_stream_host.h
struct record;		 // record.h
struct tally;		 // record.h
struct starters;	 // trigger_flows.h
struct world_delays;

struct world {
	const struct scenario *scenario;
	struct arena *arena;
	struct fabric_config fabric;	   // the scenario's, thinned when a sample is on
	struct transport_config transport; // the scenario's, with what the network gives filled in
	struct topology topology;
	uint32_t machine_count; // hosts first, then switches
	struct machine *machines;
	struct world_host **hosts; // [topology.hosts]
	struct switch_ **switches; // [topology.switch_count]
	uint32_t cable_count, cable_fault_count;
	struct cable_plan *cables;
	struct cable_fault *cable_faults;
	ps_t lookahead_ps;	 // smallest delay of any cable
	ps_t window_ps;		 // length of a window: limits.window, at most the lookahead
	uint32_t departures_max; // of one machine in one window: size of an outbox
	struct packet_pool packets;
	struct fifo_pool chunks;
	struct job job; // ring, model, trace
	struct sample_plan plan;
	struct trace trace;		   // trace
	const struct program *program;	   // or NULL: operations of ranks that wait for each other
	struct opgraph_host *opgraph_host; // of a program
	struct coll_stream *coll_stream; // or NULL: a collective whose messages are made as it goes
	struct coll_stream_host
		*coll_stream_hosts[WORLD_SHARDS_MAX]; // [shard_count] of a collective stream
	struct op_time *op_times;		      // [operations] with watch.operations; or NULL
	struct opgraph_connection *lines;	      // of a program, in the order of its ranks
	struct flow *flows;			      // where traffic is no job
	bool has_starts;			      // its matrix has starts other than 0
	uint32_t line_count, flow_count, trigger_count;
	struct trigger *triggers;	  // that flows wait for, or NULL
	struct starters *starters;	  // what they start, host by host
	uint64_t context_count, qp_count; // of all endpoints: as many as QPs, or fewer; QPs
	uint64_t work_total; // ends to be seen: of flows (two each), ranks' collectives, operations
	struct outcome *outcome;
	struct world_others others;  // what NICs of other processes counted
	struct world_jobs jobs;	     // of several
	struct world_links links;    // with watch.links
	struct world_delays *delays; // with watch.delays: world_delays.h
	struct ev_count *ev_counts;  // [flows][ev_universe()] with watch.evs; or NULL
	uint32_t shard_count; // a shard is what one thread runs; it writes into its own record
	uint32_t own_shard;   // of processes, the one that this is; else WORLD_EVERY_SHARD
	bool has_host_shards; // a host is a shard, and switches are in the first one's
	uint32_t *shard_of;   // [machine_count], in no order: see shards.c
	struct shared_switch *shared;		   // [topology.switch_count], or NULL: none is
	struct record *records[WORLD_RECORDS_MAX]; // [shard_count]
	struct series *series[WORLD_RECORDS_MAX];  // [shard_count] and these; or NULL
	struct bypass *bypass[WORLD_RECORDS_MAX];
	struct packet_trace *packet_traces[WORLD_RECORDS_MAX]; // with watch.packets
	struct slices *slices; // [ranks of all groups, group by group] with watch.messages; or NULL
	uint64_t *nic_placed;  // [nics][watch.bins] payload over time of each NIC; or NULL
	struct tally *tally;
	struct world_pauses *pauses;	    // NULL without PFC
	struct world_fast_forward *skipped; // what was; NULL: nothing is
	ps_t reached_ps; // virtual time up to which the machines were run, the driver's to say
};

#ifdef __cplusplus
extern "C" {
#endif

// Builds the world of `scenario` in `arena`, which stays open for the driver (sim_create seals it).
// `trace_text` is the content of scenario->traffic.trace, .matrix or .file (NULL else). -EINVAL
// with a reason, -ENOMEM when the arena is too small (the text names limits.memory).
int world_build(struct world *ret, struct arena *arena, const struct scenario *scenario,
		const char *trace_text, size_t trace_bytes, struct refusal *refusal);

// As world_build(), for machines that several threads or processes (1 to WORLD_SHARDS_MAX) run at
// once, each its own, with a barrier between windows. What is measured does not depend on them.
// Where each host is a process there may be more, WORLD_RECORDS_MAX.
int world_build_shards(struct world *ret, struct arena *arena, const struct scenario *scenario,
		       const char *trace_text, size_t trace_bytes, struct world_shards shards,
		       struct refusal *refusal);

#define WORLD_CABLE_NAME_BYTES 64 // holds every cable's name

// Name of a cable (its index in world->cables) for people: "nic 3 plane 1 > t0 0", "t0 0 up 5 plane
// 1 > t1 5"; of a switch (in world->switches): "t1 3", or its own in a graph. Unique in the world;
// docs/scenario.md says how to read it. Cut to `bytes`, at least 1.
void world_switch_name(const struct world *world, uint32_t index, char *ret, size_t bytes);
void world_cable_name(const struct world *world, uint32_t cable, char *ret, size_t bytes);

// Whether a tap of the scenario listens at a place of a cable (TAP_LOCATION()) at time `at`, or at
// any time.
#define TAP_LOCATION(cable, is_far) (2 * (cable) + (is_far))
bool world_cable_is_tapped(const struct world *world, uint32_t place, ps_t at);
bool world_cable_has_tap(const struct world *world, uint32_t place);

// Wire bytes of the largest packet.
uint32_t world_packet_bytes_max(const struct world *world);

// Packets that wait in hosts (made, not sent yet) and in switches (sent), counted from their
// queues.
void world_held(const struct world *world, uint64_t *ret_hosts, uint64_t *ret_switches);

// Whether every message of the workload has been completed at its sender and its receiver. Reads
// the records of all shards: only while their threads stand at the barrier.
bool world_is_done(const struct world *world);

// How many of world->work_total have been seen.
uint64_t world_work_done(const struct world *world);

// Adds up what machines and records hold into world->outcome, anew on each call. After a run or
// while threads stand at the barrier.
void world_collect(struct world *world);

#ifdef __cplusplus
}
#endif
