// SPDX-License-Identifier: Apache-2.0
// Entropy values of a scenario: profiles that cannot be, denied values that are not there, and
// frames that cannot have them as asked, are refused at their place; good ones come through whole.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <weft/world/world.h>

#define GOOD \
	"\nfabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\ntraffic: {kind: permutation, bytes: " \
	"1MB}\n"
#define EVS(rest) "transport: {evs: 2, " rest "}" GOOD
#define TABLE(rest) EVS("ev_profile: explicit, ev_values: [{ev: 7}, {ev: 8}], " rest)
#define FIELDS(rest) EVS("ev_profile: generated, ev_fields: [{bits: 8, max: 9}], " rest)

#define FLOW(transport, evs) \
	"fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\ntransport: {evs: 4" transport \
	"}\ntraffic: {kind: flows, flows: [{from: 0, to: 5, bytes: 1MB, " evs "}]}\n"

static const struct {
	const char *text;
	uint32_t line, column;
	const char *reason;
} broken[] = {
	{EVS("universe: 1"), 1, 31, "1 are fewer than transport.evs, 2"},
	{EVS("min_active: 3"), 1, 33, "3 is above transport.evs, 2"},
	{EVS("path: rotate, probe_idle: true"), 1, 35,
	 "it needs transport.kind mrc with transport.path mrc"},
	{EVS("probe_successes: 16"), 1, 38, "too large"},
	{EVS("mpr: 64}\nwire: {dscp_trimmed: 46"), 2, 22,
	 "46 is the value of wire.dscp_trimmed, too"},
	{EVS("mpr: 64}\nwire: {se_order: swapped"), 2, 8, "it needs wire.solicited true"},
	{EVS("mpr: 64}\nwire: {srh: true"), 2, 8, "no effect here; it needs wire.entropy srv6"},
	{EVS("mpr: 64}\nwire: {entropy: port, srh: false"), 2, 23,
	 "no effect here; it needs wire.entropy srv6"},
	{EVS("header: 165B}\nwire: {entropy: srv6, srh: true"), 1, 29,
	 "166 B is above transport.header, 165 B"},
	{EVS("deny: [{ev: 1}]"), 1, 21,
	 "it needs transport.kind mrc and transport.path mrc with transport.ev_profile"},
	{EVS("ev_values: [{ev: 1}]"), 1, 21, "it needs transport.ev_profile explicit"},
	{EVS("ev_profile: explicit"), 1, 13, "transport.ev_values is missing"},
	{EVS("ev_profile: generated"), 1, 13, "transport.ev_fields is missing"},
	{EVS("ev_profile: explicit, ev_values: [{ev: 7}]"), 1, 54, "1; 2 are needed"},
	{EVS("ev_profile: explicit, ev_values: [{ev: 7}, {ev: 7}]"), 1, 64, "7 appears twice"},
	{EVS("ev_profile: explicit, ev_values: [7, 8]"), 1, 55, "a mapping of keys is expected"},
	{EVS("ev_profile: explicit, ev_values: [{ev: 7}, {ev: 4294967296}]"), 1, 69, "too large"},
	{"wire: {ip: 4}\ntransport: {evs: 1, ev_profile: explicit, ev_values: [{ev: "
	 "49151}]}" GOOD,
	 2, 55, "49151 is not a UDP source port from 49152 to 65535"},
	{TABLE("deny: [{ev: 8}, {ev: 9}]"), 1, 90, "9 is not in the profile"},
	{TABLE("deny: [{ev: 8}, {ev: 8}]"), 1, 90, "8 appears twice"},
	{TABLE("deny: [{ev: 8}, {ev: 7}]"), 1, 80, "one at least must be left"},
	{FIELDS("deny: [{ev: 167772160}]"), 1, 83, "167772160 is not in the profile"},
	{EVS("ev_profile: generated, ev_fields: [{bits: 2, max: 4}]"), 1, 56,
	 "4 does not fit in 2 bits"},
	{EVS("ev_profile: generated, ev_fields: [{bits: 2, max: 0}]"), 1, 55,
	 "what is drawn gives 1 values; 2 are needed"},
	{EVS("ev_profile: generated, ev_fields: [{bits: 32, max: 9}, {bits: 1, max: 1}]"), 1, 55,
	 "33 bits; an EV has 32 here"},
	{FLOW("", "evs: [1, 3, 4]"), 3, 73, "4 is not one of the 4 (transport.evs)"},
	{FLOW("", "evs: [1, 3, 1]"), 3, 73, "1 appears twice"},
	{FLOW("", "evs: [1, -3]"), 3, 70, "traffic.flows[].evs[]: "},
	{FLOW("", "evs: [{ev: 1}]"), 3, 67, "a count is expected, not a mapping"},
	{FLOW("", "evs: []"), 3, 66, "an empty list leaves the flow no path"},
	{FLOW("", "evs: 5"), 3, 66, "5 are more than transport.evs, 4"},
	{FLOW("", "evs: 0"), 3, 66, "too small"},
	{FLOW("", "evs: {count: 2}"), 3, 66, "a list or a count is expected, not a mapping"},
	{FLOW(", kind: rc}\ncc: {algorithm: dcqcn", "evs: [1]"), 4, 66,
	 "no effect here; it needs transport.kind mrc with transport.path mrc or rotate"},
	{FLOW(", path: reps", "evs: 2"), 3, 66, "no effect here; it needs transport.kind mrc with"},
	{FLOW(", contexts: 2", "evs: 2"), 3, 66, "with transport.contexts a QP that rests forgets"},
	{FLOW(", ev_profile: explicit, ev_values: [{ev: 5}, {ev: 6}, {ev: 7}, {ev: 8}], deny: "
	      "[{ev: 7}]",
	      "evs: 2"),
	 3, 66, "transport.deny takes values from all QPs"},
	{FLOW("", "evs: 2") "faults: [{kind: evs, at: all, evs: 2}]\n", 4, 36,
	 "flows have sets of their own here"},
};

static struct scenario scenario;

static void broken_values_are_refused_at_their_place(void **state)
{
	(void)state;
	struct refusal refusal;
	for (uint32_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
		int rc = scenario_parse(&scenario, "t.yaml", broken[i].text, strlen(broken[i].text),
					NULL, 0, &refusal);
		if (rc == 0 || refusal.line != broken[i].line ||
		    refusal.column != broken[i].column ||
		    strstr(refusal.text, broken[i].reason) == NULL)
			fail_msg("%s: %d at %u:%u: %s", broken[i].text, rc, refusal.line,
				 refusal.column, refusal.text);
	}
}

static void a_profile_comes_through_whole(void **state)
{
	(void)state;
	struct refusal refusal;
	const char text[] = EVS("universe: 3, min_active: 2, probe_successes: 4, probe_idle: true, "
				"ev_profile: explicit, ev_values: [{ev: 5}, {ev: 7}, {ev: 6}], "
				"deny: [{ev: 7}]");
	assert_int_equal(scenario_parse(&scenario, "t.yaml", text, strlen(text), NULL, 0, &refusal),
			 0);
	const struct transport_config *transport = &scenario.transport;
	assert_int_equal(ev_universe(transport), 3);
	assert_int_equal(transport->ev_min_active, 2);
	assert_int_equal(transport->probe_successes, 4);
	assert_int_equal(transport->probe_idle, PROBE_IDLE_YES);
	assert_int_equal(transport->ev_values[2], 6);
	assert_int_equal(transport->ev_denied_count, 1);
	assert_int_equal(transport->ev_denied[0], 7);
}

static void flows_have_sets_as_lists_and_as_counts(void **state)
{
	(void)state;
	struct refusal refusal;
	const char text[] = "fabric: {nics: 8, nics_per_t0: 4, t1_count: 2}\n"
			    "traffic: {kind: flows, flows: [{from: 0, to: 5, bytes: 1MB, evs: [9]},"
			    " {from: 0, to: 5, bytes: 1MB, evs: all},"
			    " {from: 0, to: 5, bytes: 1MB, evs: 16},"
			    " {from: 0, to: 5, bytes: 1MB, evs: [255, 0]}]}\n";
	assert_int_equal(scenario_parse(&scenario, "t.yaml", text, strlen(text), NULL, 0, &refusal),
			 0);
	const struct flow_evs *evs = scenario.flow_evs;
	assert_int_equal(scenario.flow_evs_count, 3);
	assert_int_equal(scenario.flow_ev_count, 3);
	assert_true(evs[0].is_list && evs[0].count == 1);
	assert_int_equal(scenario.flow_ev_numbers[evs[0].first], 9);
	assert_int_equal(evs[1].count, 0); // all
	assert_true(!evs[2].is_list && evs[2].count == 16);
	assert_true(evs[3].is_list && evs[3].count == 2);
	assert_int_equal(scenario.flow_ev_numbers[evs[3].first], 255);
	assert_int_equal(scenario.flow_ev_numbers[evs[3].first + 1], 0);
}

static void receivers_probe_where_all_else_is_mrc(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool probes;
	} rows[] = {
		{EVS("path: mrc"), true},
		{EVS("probe_idle: auto"), true},
		{EVS("probe_idle: false"), false},
		{EVS("path: rotate"), false},
		{EVS("sack_rule: htsim"), false},
		{EVS("sack_rule: htsim, probe_idle: true"), true},
	};
	for (uint32_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct refusal refusal;
		assert_int_equal(scenario_parse(&scenario, "t.yaml", rows[i].text,
						strlen(rows[i].text), NULL, 0, &refusal),
				 0);
		if (probes_idle(&scenario.transport) != rows[i].probes)
			fail_msg("%s", rows[i].text);
	}
}
