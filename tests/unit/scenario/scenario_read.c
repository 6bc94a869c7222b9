// SPDX-License-Identifier: Apache-2.0
// What a scenario is read to: defaults, the shipped scenarios, assignments, aliases; and that the
// documentation lists the same keys.

#include <weft/scenario/scenario_key.h>

#include "scenario_files.h"

static void parse_good(const char *from, size_t bytes, const char *const *sets, uint32_t count)
{
	struct refusal refusal = {0};
	if (scenario_parse(&scenario, "text", from, bytes, sets, count, &refusal) != 0)
		fail_msg("%s:%u:%u: %s", refusal.file, refusal.line, refusal.column, refusal.text);
}

static void parse_shipped(const char *name, const char *const *sets, uint32_t count)
{
	char path[256];
	snprintf(path, sizeof(path), "apps/scenarios/%s", name);
	parse_good(text, source_read(path), sets, count);
}

#define FABRIC "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
#define TRAFFIC "traffic: {kind: permutation, bytes: 1MB}\n"

static void parse_text(const char *from)
{
	parse_good(from, strlen(from), NULL, 0);
}

// ---------------------------------------------------------------- meaning

static void what_a_file_leaves_out_has_the_default(void **)
{
	parse_text(FABRIC TRAFFIC);
	assert_string_equal(scenario.name, "unnamed");
	assert_string_equal(scenario.description, "");
	assert_string_equal(scenario.path, "text");
	assert_int_equal(scenario.seed, 1);
	assert_int_equal(scenario.fabric.kind, TOPOLOGY_CLOS);
	assert_int_equal(scenario.fabric.planes, 1);
	assert_int_equal(scenario.fabric.link_rate_bps, 100000000000);
	assert_int_equal(scenario.fabric.nic_delay_ps, 500 * PS_PER_NS);
	assert_int_equal(scenario.fabric.queue_bytes, 0);
	assert_true(scenario.fabric.ecn_on);
	assert_false(scenario.fabric.ecn_last_hop);
	assert_true(scenario.fabric.trim_on);
	assert_int_equal(scenario.fabric.trim_bytes, 142);
	assert_int_equal(scenario.fabric.trim_choice, TRIM_ARRIVING);
	assert_int_equal(scenario.fabric.trunk_sample_kept, 1);
	assert_int_equal(scenario.fabric.trunk_sample_of, 1);
	assert_int_equal(scenario.scaleup.rate_bps, 0);
	assert_int_equal(scenario.transport.ev_count, 256);
	assert_int_equal(scenario.transport.path_policy, PATH_MRC);
	assert_int_equal(scenario.transport.rto_ps, 0); // auto, as mpr
	assert_int_equal(scenario.transport.mpr, 0);
	assert_int_equal(scenario.transport.header_bytes, 162);
	assert_string_equal(scenario.transport.cc.name, "nscc");
	assert_int_equal(scenario.transport.cc.qa_gate, 3);
	assert_false(scenario.transport.cc.disable_qa);
	assert_int_equal(scenario.traffic.kind, TRAFFIC_PERMUTATION);
	assert_int_equal(scenario.traffic.bytes, 1000000);
	assert_ptr_equal(scenario.traffic.flows, scenario.flows);
	assert_false(scenario.sample.is_on);
	assert_int_equal(scenario.fault_count, 0);
	assert_int_equal(scenario.frames.ip_version, 6);
	assert_int_equal(scenario.frames.udp_port, 4791);
	assert_int_equal(scenario.frames.ev_place, FRAMES_EV_PORT_HIGH);
	assert_true(scenario.frames.trim_rewrites_lengths);
	assert_false(scenario.frames.has_udp_checksum);
	assert_false(scenario.capture.is_headers_only);
	assert_int_equal(scenario.capture.snap_bytes, 0);
	assert_int_equal(scenario.tap_count, 0);
	assert_int_equal(scenario.memory_bytes_max, UINT64_C(8) << 30);
	assert_int_equal(scenario.time_max_ps, 10 * PS_PER_S);
}

static void a_scenario_without_a_name_has_its_files(void **)
{
	struct refusal refusal = {0};
	const char *const from = FABRIC TRAFFIC, *const named = "name: own\n" FABRIC TRAFFIC;
	assert_int_equal(
		scenario_parse(&scenario, "a/lab.v2.yaml", from, strlen(from), NULL, 0, &refusal),
		0);
	assert_string_equal(scenario.name, "lab.v2");
	assert_int_equal(
		scenario_parse(&scenario, "a/lab.yaml", named, strlen(named), NULL, 0, &refusal),
		0);
	assert_string_equal(scenario.name, "own");
}

static void a_fabric_alone_is_read_where_no_traffic_is_asked_for(void **)
{
	struct refusal refusal = {0};
	struct scenario_source source = {.path = "text", .text = FABRIC, .bytes = strlen(FABRIC)};
	assert_int_equal(scenario_read(&scenario, &source, &refusal), -EINVAL);
	source.is_fabric_alone = true;
	assert_int_equal(scenario_read(&scenario, &source, &refusal), 0);
	assert_int_equal(scenario.fabric.nics, 8);
	source.text = FABRIC "traffic: {kind: incast, bytes: 1MB}\n"; // its own is still checked
	source.bytes = strlen(source.text);
	assert_int_equal(scenario_read(&scenario, &source, &refusal), -EINVAL);
	assert_non_null(strstr(refusal.text, "traffic.senders is missing"));
}

static void figures_that_rooms_share_are_copied(void **)
{
	parse_text("fabric: {nics: 8, nics_per_t0: 4, t1_count: 2, planes: 4}\n"
		   "transport: {payload: 1000B, header: 100B, control: 80B}\n"
		   "queue: {trim: false}\n" TRAFFIC);
	assert_int_equal(scenario.fabric.mtu_bytes, 1100);
	assert_int_equal(scenario.transport.cc.mtu_bytes, 1100);
	assert_int_equal(scenario.fabric.control_bytes, 80);
	assert_int_equal(scenario.transport.planes, 4);
	assert_false(scenario.transport.cc.has_trimming);
	assert_false(scenario.transport.trim_nack);
}

static void a_leaf_spine_is_a_clos_with_one_plane(void **)
{
	parse_text(
		"fabric: {topology: leaf-spine, nics: 8, nics_per_t0: 4, t1_count: 2}\n" TRAFFIC);
	assert_int_equal(scenario.fabric.kind, TOPOLOGY_CLOS);
	assert_int_equal(scenario.fabric.planes, 1);
}

static void a_place_may_be_a_whole_switch_or_nic(void **)
{
	static const enum link_where where[] = {LINK_AT_NIC_WHOLE, LINK_AT_T0, LINK_AT_T1};
	parse_text(FABRIC
		   "traffic: {kind: permutation, bytes: 1MB}\n"
		   "faults:\n"
		   "  - {kind: flap, at: {nic: 1}, down: 2us, up: 3us, until: 1ms}\n"
		   "  - {kind: link_down, at: {t0: 1, plane: 0}}\n"
		   "  - {kind: link_down, at: {t1: 1, plane: 0}}\n"
		   "taps: [{at: {nic: 1}}, {at: {t0: 1, plane: 0}}, {at: {t1: 1, plane: 0}}]\n");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(scenario.faults[i].at.where, where[i]);
		assert_int_equal(scenario.faults[i].at.index, 1);
		assert_int_equal(scenario.taps[i].at.where, where[i]);
	}
	assert_int_equal(scenario.faults[0].kind, FAULT_FLAP);
	assert_int_equal(scenario.faults[0].down_ps, 2 * PS_PER_US);
	assert_int_equal(scenario.faults[0].up_ps, 3 * PS_PER_US);
	assert_int_equal(scenario.faults[0].until_ps, 1000 * PS_PER_US);
}

static void lists_are_read_in_order(void **)
{
	parse_text(FABRIC "traffic:\n  kind: flows\n  flows:\n"
			  "    - {from: 0, to: 7, bytes: 1MiB}\n"
			  "    - {from: 3, to: 1, bytes: 10B, start: 2us}\n"
			  "faults:\n"
			  "  - {kind: loss, at: all, probability: 0.1%}\n"
			  "  - kind: link_down\n"
			  "    at: {t0: 1, up: 1, plane: 0}\n"
			  "    from: 1us\n"
			  "    until: 2us\n"
			  "  - {kind: link_down, at: {plane: 0}, from: 3us}\n"
			  "  - {kind: link_down, at: {nic: 7, plane: 0}}\n"
			  "inputs: [{origin: calibrated, text: fitted}]\n");
	assert_int_equal(scenario.traffic.flow_count, 2);
	assert_int_equal(scenario.flows[1].from, 3);
	assert_int_equal(scenario.flows[1].to, 1);
	assert_int_equal(scenario.flows[1].bytes, 10);
	assert_int_equal(scenario.flows[1].start_ps, 2 * PS_PER_US);
	assert_int_equal(scenario.fault_count, 4);
	assert_int_equal(scenario.faults[0].at.where, LINK_AT_ALL);
	assert_int_equal(scenario.faults[0].share_ppb, 1000000);
	assert_int_equal(scenario.faults[0].until_ps, PS_NEVER);
	assert_int_equal(scenario.faults[1].at.where, LINK_AT_TRUNK);
	assert_int_equal(scenario.faults[1].at.index, 1);
	assert_int_equal(scenario.faults[1].at.port, 1);
	assert_int_equal(scenario.faults[1].until_ps, 2 * PS_PER_US);
	assert_int_equal(scenario.fault_lines[1], 9);
	assert_int_equal(scenario.faults[2].at.where, LINK_AT_PLANE);
	assert_int_equal(scenario.faults[3].at.where, LINK_AT_NIC);
	assert_int_equal(scenario.faults[3].at.index, 7);
	assert_int_equal(scenario.input_count, 1);
	assert_int_equal(scenario.inputs[0].origin, INPUT_CALIBRATED);
	assert_string_equal(scenario.inputs[0].text, "fitted");
}

static void frames_and_captures_are_read(void **)
{
	parse_text(FABRIC TRAFFIC
		   "wire: {port: 4971, ev: port-low, trim_lengths: kept, udp_checksum: true}\n"
		   "capture: {keep: headers, snap: 128B}\n");
	assert_int_equal(scenario.frames.ip_version, 6);
	assert_int_equal(scenario.frames.udp_port, 4971);
	assert_int_equal(scenario.frames.ev_place, FRAMES_EV_PORT_LOW);
	assert_false(scenario.frames.trim_rewrites_lengths);
	assert_true(scenario.frames.has_udp_checksum);
	assert_true(scenario.capture.is_headers_only);
	assert_int_equal(scenario.capture.snap_bytes, 128);
}

static void ipv4_is_read_with_as_many_evs_as_ports(void **)
{
	parse_text(FABRIC TRAFFIC "wire: {ip: 4}\n");
	assert_int_equal(scenario.frames.ip_version, 4);
	assert_int_equal(scenario.transport.path_policy, PATH_MRC);
	assert_true(scenario.transport.trim_nack);
	parse_text(FABRIC TRAFFIC "wire: {ip: 4}\ntransport: {evs: 16384}\n");
	assert_int_equal(scenario.transport.ev_count, 16384);
	parse_text(FABRIC TRAFFIC "transport: {evs: 32768}\n");
	assert_int_equal(scenario.transport.ev_count, 32768);
}

static void taps_are_read_in_order(void **)
{
	parse_text(FABRIC TRAFFIC "taps:\n"
				  "  - {at: all}\n"
				  "  - at: {t0: 1, up: 1, plane: 0}\n"
				  "    direction: up\n"
				  "    from: 1us\n"
				  "    until: 2us\n"
				  "  - {at: {plane: 0}, direction: down, until: 3us}\n"
				  "  - {at: {nic: 7, plane: 0}, direction: both, from: 4us}\n");
	assert_int_equal(scenario.tap_count, 4);
	assert_int_equal(scenario.taps[0].at.where, LINK_AT_ALL);
	assert_int_equal(scenario.taps[0].direction, TAP_BOTH);
	assert_int_equal(scenario.taps[0].from_ps, 0);
	assert_int_equal(scenario.taps[0].until_ps, PS_NEVER);
	assert_int_equal(scenario.taps[1].at.where, LINK_AT_TRUNK);
	assert_int_equal(scenario.taps[1].at.index, 1);
	assert_int_equal(scenario.taps[1].at.port, 1);
	assert_int_equal(scenario.taps[1].direction, TAP_UP);
	assert_int_equal(scenario.taps[1].from_ps, 1 * PS_PER_US);
	assert_int_equal(scenario.taps[1].until_ps, 2 * PS_PER_US);
	assert_int_equal(scenario.tap_lines[1], 5);
	assert_int_equal(scenario.taps[2].at.where, LINK_AT_PLANE);
	assert_int_equal(scenario.taps[2].direction, TAP_DOWN);
	assert_int_equal(scenario.taps[3].at.where, LINK_AT_NIC);
	assert_int_equal(scenario.taps[3].at.index, 7);
	assert_int_equal(scenario.tap_lines[3], 10);
}

// A trimmed packet is as large as its headers at most, and nobody asks where nothing is trimmed.
static void a_trim_may_keep_all_of_the_headers(void **)
{
	parse_text(FABRIC TRAFFIC "queue: {trim_bytes: 162B}\n");
	assert_int_equal(scenario.fabric.trim_bytes, 162);
	parse_text(FABRIC TRAFFIC "queue: {trim: false}\ntransport: {header: 64B}\n");
	assert_int_equal(scenario.transport.header_bytes, 64);
}

// Sizes on the line have the SRH, but for those that are given.
static void an_srh_is_charged(void **)
{
	parse_text(FABRIC TRAFFIC "wire: {entropy: srv6}\n");
	assert_false(scenario.frames.has_srh);
	assert_int_equal(scenario.transport.header_bytes, 162);
	parse_text(FABRIC TRAFFIC "wire: {entropy: srv6, srh: true}\n");
	assert_true(scenario.frames.has_srh);
	assert_int_equal(scenario.transport.header_bytes, 162 + 24);
	assert_int_equal(scenario.transport.control_bytes, 178 + 24);
	assert_int_equal(scenario.fabric.trim_bytes, 142 + 24);
	assert_int_equal(scenario.fabric.mtu_bytes, 4096 + 162 + 24);
	parse_text(FABRIC TRAFFIC "wire: {entropy: srv6, srh: true}\nqueue: {trim_bytes: 64B}\n"
				  "transport: {header: 100B, control: 101B}\n");
	assert_int_equal(scenario.transport.header_bytes, 100);
	assert_int_equal(scenario.transport.control_bytes, 101);
	assert_int_equal(scenario.fabric.trim_bytes, 64);
}

static void an_alias_stands_for_its_anchor(void **)
{
	parse_text("name: &n twice\ndescription: *n\n" FABRIC
		   "traffic: {kind: flows, flows: [&f {from: 0, to: 1, bytes: 5B}, *f]}\n");
	assert_string_equal(scenario.description, "twice");
	assert_int_equal(scenario.traffic.flow_count, 2);
	assert_int_equal(scenario.flows[1].bytes, 5);
}

static void a_flag_may_say_the_opposite_of_its_field(void **)
{
	parse_text(FABRIC TRAFFIC "cc: {quick_adapt: false}\n");
	assert_true(scenario.transport.cc.disable_qa);
}

static void an_assignment_replaces_the_value_of_the_file(void **)
{
	static const char *const sets[] = {"fabric.nics=64", "name=other name", "traffic.bytes=2MB",
					   "cc.algorithm=fixed"};
	const char *from = FABRIC TRAFFIC "name: file\n";
	parse_good(from, strlen(from), sets, 4);
	assert_int_equal(scenario.fabric.nics, 64);
	assert_string_equal(scenario.name, "other name");
	assert_int_equal(scenario.traffic.bytes, 2000000);
	assert_string_equal(scenario.transport.cc.name, "fixed");
}

static void an_assignment_takes_a_sample_back(void **)
{
	static const char *const sets[] = {"sample=off"};
	parse_shipped("azure-gb200-llama405b.yaml", sets, 1);
	assert_false(scenario.sample.is_on);
	assert_int_equal(scenario.sample.packets_max, 0);
}

// ---------------------------------------------------------------- shipped scenarios

static void the_azure_scenario_is_what_its_sources_say(void **)
{
	parse_shipped("azure-gb200-llama405b.yaml", NULL, 0);
	assert_int_equal(scenario.fabric.nics, 128 * 64);
	assert_int_equal(scenario.fabric.planes, 8);
	assert_int_equal(scenario.fabric.mtu_bytes, 4096 + 162);
	assert_int_equal(scenario.scaleup.rate_bps, UINT64_C(7200000000000));
	assert_int_equal(scenario.traffic.kind, TRAFFIC_MODEL);
	assert_string_equal(scenario.traffic.model, "llama-3.1-405b-azure");
	assert_int_equal(scenario.traffic.ring.chunk_bytes_max, 2 << 20);
	assert_true(scenario.sample.is_on);
	assert_true(scenario.sample.packets_max <= 40000000);
	assert_true(scenario.input_count >= 10);
}

static void the_trace_scenario_leaves_its_file_to_the_command_line(void **)
{
	static const char *const sets[] = {"traffic.trace=a.txt", "fabric.nics=64"};
	parse_shipped("trace-default.yaml", NULL, 0);
	assert_int_equal(scenario.traffic.kind, TRAFFIC_TRACE);
	assert_string_equal(scenario.traffic.trace, "");
	assert_int_equal(scenario.fabric.nics, 9216);
	parse_shipped("trace-default.yaml", sets, 2);
	assert_string_equal(scenario.traffic.trace, "a.txt");
	assert_int_equal(scenario.fabric.nics, 64);
}

static void check_shipped(const char *name)
{
	parse_shipped(name, NULL, 0);
	assert_int_equal(strncmp(name, scenario.name, strlen(scenario.name)), 0);
	assert_true(strlen(scenario.description) > 10);
	assert_true(scenario.input_count > 0);
}

static void every_shipped_scenario_is_read(void **)
{
	assert_true(shipped_each(check_shipped) >= 9);
}

// ---------------------------------------------------------------- documentation

static void the_documentation_lists_every_key_and_no_other(void **)
{
	uint32_t keys = 0, rows = 0;
	source_read("docs/scenario.md");
	for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++, keys++) {
		char row[512];
		snprintf(row, sizeof(row), "\n| `%s` | %s | `%s` | %s |\n", key->path, key->unit,
			 key->value, key->text);
		if (strstr(text, row) == NULL)
			fail_msg("docs/scenario.md lacks:%s", row);
	}
	for (const struct scenario_name *name = scenario_names(); name->name != NULL; name++) {
		char row[512];
		snprintf(row, sizeof(row), "\n| `%s` | name | `%s` | As mrc_ctl.h calls that key",
			 name->name, name->path);
		if (strstr(text, row) == NULL)
			fail_msg("docs/scenario.md lacks:%s", row);
		keys++;
	}
	for (const char *row = text; (row = strstr(row, "\n| `")) != NULL; row++)
		rows++;
	assert_true(keys > 70);
	assert_int_equal(rows, keys);
}

static void the_documented_example_works(void **)
{
	source_read("docs/scenario.md");
	char *from = strstr(text, "```yaml\n");
	assert_non_null(from);
	from += strlen("```yaml\n");
	char *end = strstr(from, "```");
	assert_non_null(end);
	parse_good(from, (size_t)(end - from), NULL, 0);
	assert_string_equal(scenario.name, "first");
	assert_int_equal(scenario.fault_count, 1);
}

// The first two blocks of YAML, one after the other: a scenario, and taps for it.
static void the_documented_taps_fit_the_documented_example(void **)
{
	static char both[FILE_BYTES_MAX];
	size_t used = 0;
	source_read("docs/scenario.md");
	const char *from = text;
	for (uint32_t block = 0; block < 2; block++) {
		from = strstr(from, "```yaml\n");
		assert_non_null(from);
		from += strlen("```yaml\n");
		size_t bytes = (size_t)(strstr(from, "```") - from);
		memcpy(both + used, from, bytes);
		used += bytes;
	}
	parse_good(both, used, NULL, 0);
	assert_string_equal(scenario.name, "first");
	assert_int_equal(scenario.tap_count, 3);
	assert_int_equal(scenario.capture.snap_bytes, 128);
}
