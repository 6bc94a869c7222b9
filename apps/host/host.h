// SPDX-License-Identifier: Apache-2.0
// weft host: what its files share.
//
//   main.c     the way from the command line to the end    choice.c   the command line
//   setup.c    scenario, meeting, ports                    host_run.c a world and its loop, once
//   pair.c     what two hosts send each other              before_traffic.c what is measured before
//   table.c    what is printed                             json.c     the same as JSON
//   foreign.c  writes to and from RoCEv2 of others
//   workload.c files that traffic stands in
//   bare.c     the bare loop beside a pair             live.c     what a run tells while it goes
//   ranks.c    what all hosts of a scenario came to        probe.c    what a port is and can
//   generator.c  gradients that somebody else makes
//   reach.c    how far frames for a peer come              between.h  clocks.c and pairs.c
//   folder.c   the result of all hosts as files            host_summary.c     what a host tells of
//   itself
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <weft/files/signals.h>
#include <weft/files/staging.h>
#include <weft/ports/codec.h>
#include <weft/result/report_manifest.h>
#include <weft/run/gpu_pass.h>
#include <weft/run/workload.h>
#include <weft/scenario/scenario.h>
#include <weft/transport/transport.h>
#include <weft/wall/bare.h>
#include <weft/wall/meeting.h>
#include <weft/wall/wall.h>

#include "between.h"
#include "choice.h"
#include "pair.h"

#define STALL_PS (200 * PS_PER_US) // a longer turn is a stall
#define LAG_PS (20 * PS_PER_US)	   // at most, of frames that leave by clocks of ports
#define DEAD_PS (2 * PS_PER_S)	   // in which a port takes nothing: it is down

// What a host measured of round trips and of itself, before traffic; the times that follow.
struct before_traffic {
	ps_t rtt_ps;  // median round trip of a packet through the whole loop, the longest of all
	ps_t turn_ps; // of a burst of each port under load, the longest of all; 0: none was full
	ps_t lateness_ps; // of the loop, p99.9, the largest of all
	ps_t lag_ps;	  // frames leave so much later, by clocks of ports; 0: by the loop
	uint64_t drained; // frames that lay in the ports before
	bool sets_rtt, sets_hole, sets_rto; // the scenario does not say them
	bool is_rto_short;		    // the loop is later than a tenth of the longest timer
};

struct call {
	struct choice choice;
	struct scenario scenario;
	uint64_t text_hash;	  // of scenario and assignments, and of the files that they name
	struct workload workload; // the file that the traffic stands in, where it does
	struct job_set_file job_files[SCENARIO_JOBS_MAX]; // the same of several jobs
	struct meeting meeting;
	uint32_t index;		       // of this host
	bool peers[MEETING_HOSTS_MAX]; // hosts that it has ports to
	struct ports ports;
	struct codec codec; // of what goes over them
	void *ports_memory;
	size_t ports_bytes;
	struct wall_port wall_ports[DEVICES_MAX];
	struct before_traffic before_traffic;
	struct clocks clocks;
	struct pairs pairs;
	struct pair_row rows[SIZES_MAX];
	uint32_t row_count;
	struct bare_counts bare[2];	   // before and after
	struct gpu_call gpu;		   // --gpu
	bool has_generators;		   // of the run that goes
	char why_copied[DEVICE_WHY_BYTES]; // their payload; empty: ports read it where it lies
	bool gathers;			   // host 0 writes the result of all (--out)
	bool is_missed;			   // an expectation of the scenario, in that result
	struct staging staging;		   // where
	struct manifest_rows inputs;	   // files that were read
	char command[1024];
	struct refusal refusal;
};

// A world with its loop.
struct host_run {
	struct arena arena;
	void *memory;
	size_t memory_bytes;
	void *program_memory;
	size_t program_bytes;
	struct world world;
	uint32_t host; // of the world, that runs here
	bool is_dealt; // each host of it is a shard, and this process has its own alone
	struct wall *wall;
	void (*on_start)(const struct call *call); // called when traffic starts, or NULL
	enum wall_end end;
	struct tap_counts taps;
	int taps_rc; // -errno: its capture could not be written, for the reason beside it
	struct refusal taps_refusal;
	uint64_t drained;
	uint32_t ports_down; // bits: without a link when the run ended
	double wall_s;
};

// Reads the scenario; as two NICs where none is given. -errno with a reason.
int setup_scenario(struct call *call);

// The files that its traffic stands in, where it does. -errno with a reason.
int setup_workload(struct call *call);

// Adds to what all hosts must have the same.
void setup_hash(struct call *call, const void *text, size_t bytes);

// Finds the hosts that this one exchanges packets with, here and in what is measured before, and
// refuses what is wrong with its ports before any of these is waited for. -errno with a reason.
int setup_check(struct call *call);

// Meets the other host: who called says what is measured. -errno with a reason.
int setup_meeting(struct call *call);

// All hosts are here, or none goes on.
int setup_meet(struct call *call);

// Opens the ports, those of host 0 first, and waits for their links. Nothing where they are open.
int setup_ports(struct call *call, const struct world *world);

// Builds the world of call->scenario, whose traffic is `program` (NULL: the scenario's own), runs
// this host's part of it together with the others, and leaves it to be read, whether its capture
// could be written or not. On refusal nothing is held.
int host_run_run(struct call *call, struct host_run *ret, const struct tap_options *taps);
void setup_world_free(struct host_run *host_run);

// The clock of all loops, in ns: the CPU's, or from the second call on the system's, which
// generators read.
int64_t clocks_now_ns(void *context);
void clocks_use_system(void);

// Writes to, and takes writes from, RoCEv2 of others: nobody is met, and nothing measured before.
// The status.
int foreign_run(struct call *call);

// Answers DPDK's telemetry, if that is asked for, while a loop runs with the viewer that begins it.
// -ENODEV with a reason.
int live_open(struct call *call);
struct viewer *live_begin(const struct call *call);
void live_end(void);

// Runs the bare loop together with the other host. -ECONNRESET where that one went meanwhile.
int bare_measure(struct call *call, struct bare_counts *ret);

// Payload of the bare loop over both of its runs, in b/s; 0 where it did not run.
double bare_bps(const struct call *call);

// Its first step: call->scenario as a world. -ENOMEM, -EINVAL with a reason.
int setup_world(struct call *call, struct host_run *ret);

// Measures the times that the transport needs, and writes them into the scenario.
int before_traffic_run(struct call *call);

// Puts --ramp into the scenario, as lines that are slower at first. -EINVAL without room for that.
int setup_ramp(struct call *call);

static inline bool call_is_pair(const struct call *call)
{
	return call->choice.listen != NULL || call->choice.to != NULL;
}

// A pair's hosts exchange with host 0, others' with the next one.
static inline uint32_t call_next(const struct call *call, uint32_t host)
{
	if (call_is_pair(call))
		return host == 0 ? 1 : 0;
	return (host + 1) % call->meeting.options.count;
}

static inline bool call_is_incast(const struct call *call)
{
	return call->choice.callers > 1;
}

// The address at which the hosts meet.
static inline const char *call_address(const struct call *call)
{
	const struct choice *choice = &call->choice;
	return choice->listen != NULL ? choice->listen
		: choice->to != NULL  ? choice->to
				      : choice->meet;
}

// Each host of a scenario tells host 0 what it came to, which prints it, as table or JSON. -errno
// with a reason where one of them is gone meanwhile.
int ranks_print(FILE *to, struct call *call, const struct host_run *host_run);

// --out: the folder is begun by host 0; behind a run, all give it what they measured, and it writes
// that as one result. -errno with a reason.
int folder_begin(struct call *call);
int folder_write(struct call *call, struct host_run *host_run);

// What is known before traffic, at once; and what came of it.
void table_begin(FILE *to, const struct call *call);
// One sentence: what may be concluded from a run whose loops were so late (p99.9) and stalled for
// so long of `wall_ps` x hosts. In a buffer of the function's own.
const char *table_fidelity(const struct call *call, ps_t late_ps, ps_t stalled_ps, ps_t wall_ps);

const char *host_run_fidelity(const struct call *call,
			      const struct host_run *host_run); // of one host

// The line of data packets, with why they were sent again.
void table_data(FILE *to, const struct transport_counters *count);
// Which ports take others' frames, too, and why.
void table_ports(FILE *to, const struct call *call);
struct json_t *json_ports(const struct call *call);
// Ports that lost their link, where one did.
void table_links(FILE *to, uint64_t lost, uint64_t back);
void table_end(FILE *to, const struct call *call, const struct host_run *host_run);
void json_print(FILE *to, const struct call *call, const struct host_run *host_run);
static inline long long whole(uint64_t value) // a json_int_t
{
	return (long long)value;
}
struct json_t *json_times(const struct call *call); // what was measured before
struct json_t *
json_loop(const struct host_run *host_run); // what the loop counted, and how late it was

// weft host --gpu: generators (weft gpu) make the gradients of this host's ranks, which leave
// through its ports.

// Whether the scenario has gradients, before anybody is met. -EINVAL with a reason.
int generator_check(struct call *call);

// Makes the link and waits for a generator of each rank. -ECONNRESET, -errno with a reason.
int generator_open(struct call *call);

// The world is built: its frames' payload lies in the link.
int generator_attach(struct call *call, const struct host_run *host_run,
		     struct ports_options *payload);

// Before each turn. A fn of struct wall_control.
bool generator_poll(void *call, struct wall *wall);

// Behind a run that was begun with generators: what they measured is in call->gpu.report.
void generator_finish(struct call *call, const struct host_run *host_run);

void generator_drop(struct call *call);
void generator_print(FILE *to, const struct call *call);
struct json_t *generator_json(const struct call *call); // null without one

// weft host: what a host tells of itself behind a run.

struct host_summary {
	uint32_t end; // enum wall_end
	ps_t end_ps;  // its last completion
	ps_t wall_ps; // of its loop
	ps_t lateness_ps, stalled_ps;
	uint64_t work_done, work_total, stalls;
	uint64_t payload_bytes_good, payload_bytes_wrong, frames_lost, frames_dropped;
	uint64_t frames_sent, frames_received;
	uint64_t frames_strange, frames_faulted, links_lost, links_back;
	uint64_t triggers_told, triggers_heard;	      // to others, of others
	uint64_t generated_elements, generated_wrong; // that generators checked
	uint64_t cpu_ns, memory_bytes;		      // of its process
	struct transport_counters transport;
};

void host_summary_of(struct host_summary *ret, const struct call *call,
		     const struct host_run *host_run);

// Of all together: sums, and the largest of end, lateness, time and memory.
void host_summary_add(struct host_summary *ret, const struct host_summary *all, uint32_t count);

uint64_t
host_summary_retransmitted(const struct host_summary *host_summary); // data packets sent again
struct json_t *host_summary_json(const struct host_summary *host_summary);

// weft host --probe: a port, and the way to a peer, before there is traffic.

// Opens a port, prints what it is and whether the scenario's frames fit, and with --to how far they
// come. The exit status; -errno with a reason.
int probe_run(struct call *call);

struct reach_ends {
	uint8_t source[16], target[16]; // IPv4: ::ffff:a.b.c.d
};

// Reads --to and --from; without that it is an address of the interface. -EINVAL with a reason.
int reach_check(struct call *call, const char *interface, struct reach_ends *ret);

// Asks the peer layer by layer with frames of at most `frame_bytes`, and prints what each came to.
// EXIT_SUCCESS, or EXIT_PEER_LOST; -EINTR with a reason.
int reach_run(struct call *call, const struct device_facts *facts, uint32_t frame_bytes,
	      const struct reach_ends *ends);
