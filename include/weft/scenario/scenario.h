// SPDX-License-Identifier: Apache-2.0
// A scenario: everything a run needs, as one file says it, and how it is read. Every error has
// file, line, column and reason (lib/scenario).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/fabric/fabric.h>
#include <weft/measure/measure_expect.h>
#include <weft/scenario/scenario_traffic.h>
#include <weft/scenario/world_fast_forward.h>
#include <weft/scenario/world_frames.h>
#include <weft/transport/transport.h>
#include <weft/workload/plan_input.h>
#include <weft/workload/workload.h>

#define SCENARIO_FAULTS_MAX 1024
#define SCENARIO_FLOWS_MAX 4096
#define SCENARIO_FLOW_EVS_MAX 16384 // numbers in the lists of all flows
#define SCENARIO_TAPS_MAX 64
#define SCENARIO_NODES_MAX 1024
#define SCENARIO_LINKS_MAX 8192

#define SCENARIO_INPUTS_MAX 48
#define SCENARIO_PRESET_INPUTS_MAX 32 // and so many that a preset sets
#define SCENARIO_EXPECTATIONS_MAX 32

// One figure that a result rests on, in words, with its source.
struct scenario_input {
	enum input_origin origin;
	char text[304];
};

// The entropy values that a flow has to itself, by number: those of a list, or the first.
struct flow_evs {
	uint32_t count; // 0: it uses all
	uint32_t first; // is_list: of them, in flow_ev_numbers
	bool is_list;
};

struct scenario {
	char name[SCENARIO_NAME_BYTES];
	char description[256];
	char path[SCENARIO_PATH_BYTES]; // the file it came from
	uint64_t seed;
	uint32_t preset; // its word
	struct fabric_config fabric;
	bool has_cut_through;			 // else fabric.cut_bytes is 0
	uint32_t oversubscription;		 // of T0 or ToR switches; 0 = as counts say
	char topology_file[SCENARIO_PATH_BYTES]; // fabric.topology file
	char node_names[SCENARIO_NODES_MAX][NODE_NAME_BYTES]; // behind fabric.graph
	struct graph_link graph_links[SCENARIO_LINKS_MAX];    // behind fabric.graph
	struct scaleup_config scaleup;
	struct transport_config transport;
	bool has_rto;				// transport.rto is not the default
	bool has_auto_header, has_auto_control; // sizes on the line were not given
	uint32_t ev_value_count;		// in what transport.ev_values, ev_denied point to
	uint32_t ev_values[EV_VALUES_MAX], ev_denied[EV_VALUES_MAX];
	uint32_t first_psn;	     // of every QP, or added to what is drawn
	bool is_psn_drawn;	     // each QP starts with one of its own, by the seed
	uint32_t qps_per_connection; // slices go to them in turn; a flow is shared among them
	ps_t port_detect_ps; // a NIC knows so much later that a port's light went out or came back
	struct traffic_config traffic;
	struct sample sample;
	struct fast_forward_config fast_forward;
	uint32_t fault_count;
	struct fault faults[SCENARIO_FAULTS_MAX];
	uint32_t fault_lines[SCENARIO_FAULTS_MAX]; // line of each fault in the file, or its number
						   // among those of the command line
	uint32_t file_fault_count; // so many are the file's
	struct frames_config frames;
	struct capture_config capture;
	struct watch_config watch;
	bool has_watch_links; // watch.links was given, be it false: no program sets it
	uint32_t tap_count;
	struct tap taps[SCENARIO_TAPS_MAX];
	uint32_t tap_lines[SCENARIO_TAPS_MAX];
	uint32_t file_tap_count;	       // so many are the file's
	struct flow flows[SCENARIO_FLOWS_MAX]; // behind traffic.flows
	struct flow_evs flow_evs[SCENARIO_FLOWS_MAX];
	uint32_t flow_evs_count, flow_ev_count; // flows that have a set; in flow_ev_numbers
	uint16_t flow_ev_numbers[SCENARIO_FLOW_EVS_MAX];
	uint32_t job_count;
	struct scenario_job jobs[SCENARIO_JOBS_MAX];
	char only[SCENARIO_NAME_BYTES]; // name of the one job that runs; "": all do
	uint32_t job_only;		// that one, counted from 1; 0: all
	uint32_t variant_count;
	struct scenario_variant variants[SCENARIO_VARIANTS_MAX];
	uint32_t variant; // the one that this is, counted from 1; 0 = none, the scenario as it is
	uint32_t expectation_count;
	struct scenario_expect expectations[SCENARIO_EXPECTATIONS_MAX];
	uint32_t input_count;
	struct scenario_input inputs[SCENARIO_INPUTS_MAX + SCENARIO_PRESET_INPUTS_MAX];
	const struct world_step *step; // model: this whole step; the caller's, NULL when read
	const char *order; // model: of ranks, in place of the plan's; the caller's, NULL when read
	bool is_tensor;	   // model: one message of tensor ranks in place of gradients; the caller's
	bool is_contradiction;	   // it was refused: each key is understood, together they are not
	uint32_t packets_max;	   // limits: descriptors in the pool; 0 = derived from the world
	uint64_t memory_bytes_max; // of the arena
	uint64_t hops_max;	   // packets over cables, of the whole run; 0 = no limit
	ps_t time_max_ps;	   // the run ends here at the latest
	ps_t window_ps;		   // length of a window; 0 = the lookahead
};

#ifdef __cplusplus
extern "C" {
#endif

// Whether frames carry an EV in the UDP source port alone, so that EVs are ports. RoCEv2 knows no
// other place, but where switches follow source routes these are in front of its packets, too.
static inline bool scenario_evs_are_ports(const struct scenario *scenario)
{
	if (scenario->fabric.forwarding == FABRIC_USID)
		return false;
	return scenario->transport.kind == TRANSPORT_RC || scenario->frames.ip_version == 4 ||
		scenario->frames.entropy == FRAMES_ENTROPY_PORT;
}

// The values that hold when a file says nothing; each is listed in docs/scenario.md.
void scenario_defaults(struct scenario *ret);

// Reads YAML text (`bytes` long, named `path` in errors) over the defaults, then the assignments
// `sets` ("fabric.planes=4"; shown in errors as file "--set"), then checks the whole. -EINVAL with
// file, line, column and reason; `ret` is then undefined, but for is_contradiction.
int scenario_parse(struct scenario *ret, const char *path, const char *text, size_t bytes,
		   const char *const *sets, uint32_t set_count, struct refusal *refusal);

// What a scenario is read from: a file, and words of the command line.
struct scenario_source {
	const char *path, *text; // of the file; its text is `bytes` long
	size_t bytes;
	const char *const *sets; // "fabric.planes=4"; shown in errors as file "--set"
	uint32_t set_count;
	uint32_t common_count; // the first of these are for all runs of a comparison: as keys of
			       // the file they are passed over where the others make them moot
	// "{kind: loss, at: all, probability: 1%}", one line each, after the faults of the file;
	// shown in errors as file "--fault", the line being the number of the fault
	const char *const *faults;
	uint32_t fault_count;
	bool is_fabric_alone; // traffic may be missing: some is put there, and nobody looks at it
	const char *const *taps; // likewise; "{at: {nic: 3}}", file "--tap"
	uint32_t tap_count;
};

// As scenario_parse(), with faults and taps of the command line.
int scenario_read(struct scenario *ret, const struct scenario_source *source,
		  struct refusal *refusal);

// Where fault number `index` was written, in a refusal of the world that is built of it.
void scenario_fault_location(const struct scenario *scenario, uint32_t index,
			     struct refusal *refusal);
void scenario_tap_location(const struct scenario *scenario, uint32_t index,
			   struct refusal *refusal);

// The first fault that begins or ends between two times, or a little before: what follows from it
// takes its time. A fault that comes and goes does so, too, unless the time that was seen,
// `seen_ps`, is 20 of its periods. fault_count: there is none, and what was seen goes on.
uint32_t scenario_fault_between(const struct scenario *scenario, ps_t from, ps_t until,
				ps_t seen_ps);

// The word of value `value` of the key `path`: "reps" of transport.path.
const char *scenario_word(const char *path, uint32_t value);

// The word of a kind of fault, as a scenario has it: "link_down".
const char *scenario_fault_name(enum fault_kind kind);

// The collective that traffic.kind collective asks for, `auto` being settled.
void scenario_collective(struct coll_config *ret, const struct scenario *scenario);
void scenario_gradients(struct gradients_config *ret, const struct scenario *scenario);

// Gives the scenario the job that traffic.model names, and settles what hangs on it. The plan is
// the caller's, and must outlive the scenario.
void scenario_take_plan(struct scenario *scenario, const struct plan *plan);

// What a result of it rests on, one after the other: figures of the files of its jobs, which are
// known by now, then its own. False: there are no more.
bool scenario_input_at(const struct scenario *scenario, uint32_t index, struct scenario_input *ret);

// The place of traffic.model, in a refusal of its file.
void scenario_model_location(const struct scenario *scenario, struct refusal *refusal);

// Adds to a refusal of a key, by a room that knows no presets, that the scenario's preset set it.
void scenario_preset_reason(const struct scenario *scenario, struct refusal *refusal);

#ifdef __cplusplus
}
#endif
