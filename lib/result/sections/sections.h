// SPDX-License-Identifier: Apache-2.0
// What result.json, the table and the CSV files have, section by section.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include <weft/measure/measure.h>
#include <weft/result/number.h>
#include <weft/result/put.h>
#include <weft/result/report.h>

// The buffer that the ports of a switch share, as result.json and the table have it. Nothing of it
// where each port has its own queue.
void buffer_json(json_t *root, const struct report_input *input);
void buffer_table(FILE *to, const json_t *result);

// cables.csv: what each cable carried, with watch.links.
bool cables_are_counted(const struct world *world);

// A line for each direction of each link, those of NICs and between switches, in the order of the
// topology: packets and their bytes on the line as they entered it, those of data, and packets
// lost.
void cables_write(FILE *to, const struct world *world);

// How deep the queues of switches were, with watch.links: as data that had to wait found them, and
// over time.

#define DEPTHS_WORST 8u // ports whose depth over time is listed

// The `depths` and `depth_series` of `links` in result.json.
void depths_json(json_t *to, const struct report_input *input);

// Packets that were lost, by reason, and what cables did to others, as result.json has it.
void drops_json(json_t *root, const struct report_input *input);

// The parts of the table that only a run with real frames or a clock has. A run in virtual time
// without either prints nothing here.

// Whether the run had a clock, frames, or wrote a capture or a log.
bool emulation_has_pace(const struct report_input *input);
bool emulation_has_frames(const struct report_input *input);
bool emulation_has_taps(const struct report_input *input);

// Whether the ports handed out each frame that they took.
bool emulation_frames_agree(const struct report_ports *ports);

// The sections "Real frames" and "Pace".
void emulation_table(FILE *to, const json_t *result);

// What the short table says of both: the pace in a line, and what is wrong.
void emulation_short(FILE *to, const json_t *result);

// A line per capture or log.
void emulation_files(FILE *to, const json_t *result);

// What of a run was jumped over (fast_forward.steady).

// "fast_forward" of result.json; left out when the scenario skips nothing.
void fast_forward_json(json_t *root, const struct report_input *input);

// The same in the table; nothing when the scenario skips nothing.
void fast_forward_table(FILE *to, const json_t *result);

// The faults of the scenario as result.json lists them: what the run was put to.
void faults_json(json_t *root, const struct report_input *input);

#define FAULT_PLACE_BYTES 64

// "nic 3 plane 0", "t0 1 plane 2 up 5", "all"; returns `ret`.
const char *fault_place_text(char ret[FAULT_PLACE_BYTES], const struct link_location *place);

// Whether a fault had nothing to hit, and which one: a cable that carried no packet, or a time
// after the traffic ended.
bool faults_without_effect(const struct report_input *input, char *ret, size_t bytes);

// The entropy values (EVs) that flows have to themselves, and what flows sent by each.

// `flow_evs`: null where all flows use all EVs and none are counted.
void flow_evs_json(json_t *root, const struct world *world);

// Nothing where `flow_evs` is null.
void flow_evs_table(FILE *to, const json_t *result);

// Whether data were counted by EV (watch.evs).
bool flow_evs_are_counted(const struct world *world);

// Then, as lines of text, each EV of each flow that data left by: flow_evs.csv.
void flow_evs_write(FILE *to, const struct world *world);

// flows.csv: each flow with its times. Histograms round, this does not.

// Whether the traffic was flows, so that there is something to write.
bool flows_are_there(const struct world *world);

// A line for each flow, in the order of the traffic: NICs, bytes, and in picoseconds of virtual
// time when it started, when its sender held the last acknowledgement, and what lies between, its
// FCT. Cells are empty for what had not come when the run ended.
void flows_write(FILE *to, const struct world *world);

// What generators and the run measured of gradients, in the table and in result.json.

// "gpu": an object, or null where no generators took part.
void gpu_json(json_t *root, const struct report_input *input);
void gpu_table(FILE *to, const json_t *result);

// How many met at a receiver over time, and how far apart packets came there.

#define INCASTS_WORST 8u // NICs that are listed

// `delays.incast_series` and `delays.gaps`, with watch.delays.
void incast_json(json_t *to, const struct report_input *input);

// What PFC came to, as result.json and the table have it. Nothing of it where the run had no PFC.
void pauses_json(json_t *root, const struct report_input *input);
void pauses_table(FILE *to, const json_t *result);

// What a program had to do and what went over which lines, as result.json and the table have it.
// Nothing of it where no program ran.
void program_json(json_t *root, const struct report_input *input);
#define PROGRAM_STEP_BYTES 96

// "21.4 ms, of which 3.1 ms exposed (14.5 %)": a step, and what of it is communication that
// computations wait for. False where nothing is computed, or not all of it ended.
bool program_step_text(const struct report_input *input, char ret[PROGRAM_STEP_BYTES]);

void program_table(FILE *to, const json_t *result);

// Latency of messages by the racks of both ends, with watch.racks.

// The `racks` of result.json.
void racks_json(json_t *root, const struct report_input *input);

// What a run took where its scenario says auto, or nothing.

// Adds the list `taken` to `root`, nothing where all was given. A value is written as --set takes
// it: with all of them set the run is the same, but for NSCC's cc.max_window, which auto lets
// shrink.
void taken_json(json_t *root, const struct report_input *input);

// The same for people, under a head of its own; and the unit of a matrix's starts apart.
void taken_table(FILE *to, const json_t *result);
void taken_starts(FILE *to, const json_t *result);

// What was measured over time, as result.json and series.csv have it.

// Sets what the run watched; nothing when it watched nothing.
void watch_json(json_t *root, const struct report_input *input);

// Who stands out, and dead paths, in the table.
void watch_table(FILE *to, const struct report_input *input, const json_t *result);

// Whether there is a series, and the series as lines of text.
bool watch_has_series(const struct report_input *input);
void watch_series_write(FILE *to, const struct report_input *input);

// Hosts in wall time: what each reported, and figures that they alone cannot give, of switches and
// cables between them and of hosts that reported nothing.

// Puts the part "wall" into a document that is whole otherwise, and sets these figures to null,
// each with its reason. Nothing where the fabric is weft's.
void withheld_json(json_t *root, const struct report_input *input);

// NSCC's parameters as they were in force, in result.json: by the names and in the units of the MRC
// controller structure (mrc_ctl.h), so that they can be handed to a controller as they stand.

// Adds object `mrc_ctl` to `root`, nothing where another algorithm ran.
void cc_settings_json(json_t *root, const struct report_input *input);

// What the short form says in words: the traffic, a step, and what a reader must know first. In the
// `headline` of result.json, which is there.
void brief_what_json(json_t *root, const struct report_input *input);

// The queue that a cable's packets leave from; NULL: it is a NIC's.
struct queue_watch;
const struct queue_watch *links_queue(const struct world *world, uint32_t cable);

// The cable that carried most for its rate, and the deepest queue, in the `links` of result.json;
// null where there is none, with the reason.
void links_top_json(json_t *to, const struct report_input *input);

// A histogram as fields of result.json.

// `count`, then `min_UNIT`, `mean_UNIT`, `p50_UNIT`, `p95_UNIT`, `p99_UNIT`, `p999_UNIT` and
// `max_UNIT`; null where a sample cannot give them, or, for the reason `none`, when there are no
// values.
void quantiles_json(json_t *to, const struct hist *hist, const char *unit, bool is_sample,
		    const char *none);

// The same of `count` values that do not say it, for `reason`.
void quantiles_none_json(json_t *to, uint64_t count, const char *unit, const char *reason);
