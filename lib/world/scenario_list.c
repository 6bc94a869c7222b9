// SPDX-License-Identifier: Apache-2.0
// The lists of a scenario: flows, faults, taps, expectations, inputs. Each element is a mapping
// whose keys are in the table like all others; what must fit together is checked element by
// element, because each has a place of its own.

#include <string.h>

#include "scenario_draft.h"

// Reads element `index` of a list; what base points to is the element's own field.
typedef int read_element_fn(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
			    uint32_t index);

// The place of a key of the element, or of the element.
static struct mark element_mark(const struct draft *draft, const yaml_node_t *node,
				const char *path)
{
	return draft_is_given(draft, path) ? draft_mark(draft, path) : document_mark(node);
}

static int check_index(struct draft *draft, const char *path, uint32_t value, uint32_t count)
{
	if (!draft_is_given(draft, path) || value < count)
		return 0;
	if (count == 0)
		return draft_refuse(draft, draft_mark(draft, path),
				    "%s: %u does not exist; there is none", path, value);
	return draft_refuse(draft, draft_mark(draft, path),
			    "%s: %u does not exist; it may be 0 to %u", path, value, count - 1);
}

static int read_flow(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t index)
{
	struct scenario *scenario = draft->scenario;
	struct flow *flow = &scenario->flows[index];
	int rc = document_read_element(draft, document, node, "traffic.flows[]", flow);
	if (rc == 0)
		rc = check_index(draft, "traffic.flows[].from", flow->from, scenario->fabric.nics);
	if (rc == 0)
		rc = check_index(draft, "traffic.flows[].to", flow->to, scenario->fabric.nics);
	if (rc == 0 && flow->from == flow->to)
		rc = draft_refuse(draft, draft_mark(draft, "traffic.flows[].to"),
				  "traffic.flows[].to: a flow cannot lead to its sender, NIC %u",
				  flow->to);
	scenario->traffic.flow_count = index + 1;
	return rc;
}

// Switches of a plane, and up ports of each T0.
struct plane_counts {
	uint32_t t0, t0_up, t1;
};

static struct plane_counts count_plane(const struct fabric_config *fabric)
{
	bool is_clos = fabric->kind == TOPOLOGY_CLOS;
	uint32_t below = is_clos ? fabric->nics_per_t0 : fabric->tor_nics;
	uint32_t t0 = (fabric->nics + below - 1) / below;
	if (is_clos)
		return (struct plane_counts){t0, fabric->t1_count * fabric->bundle,
					     fabric->t1_count};
	return (struct plane_counts){t0, fabric->pod_aggs,
				     t0 / fabric->pod_tors * fabric->pod_aggs};
}

// ---------------------------------------------------------------- places

// The keys of a place, in the list that it belongs to.
struct place_keys {
	const char *at, *nic, *t0, *t1, *up, *plane;
};

static const struct place_keys fault_keys = {"faults[].at",    "faults[].at.nic",
					     "faults[].at.t0", "faults[].at.t1",
					     "faults[].at.up", "faults[].at.plane"};
static const struct place_keys tap_keys = {"taps[].at",	   "taps[].at.nic", "taps[].at.t0",
					   "taps[].at.t1", "taps[].at.up",  "taps[].at.plane"};

// What was given of a place, as bits.
enum place_bit { HAS_NIC = 1, HAS_T0 = 2, HAS_T1 = 4, HAS_UP = 8, HAS_PLANE = 16 };

// The kinds of place, each with the keys that name it.
static const struct {
	unsigned bits;
	enum link_where where;
} place_kinds[] = {
	{HAS_PLANE, LINK_AT_PLANE},
	{HAS_NIC, LINK_AT_NIC_WHOLE},
	{HAS_NIC | HAS_PLANE, LINK_AT_NIC},
	{HAS_T0 | HAS_PLANE, LINK_AT_T0},
	{HAS_T0 | HAS_UP | HAS_PLANE, LINK_AT_TRUNK},
	{HAS_T1 | HAS_PLANE, LINK_AT_T1},
};

// Finds out what kind of place `at` names, from the keys that were given.
static int settle_place(struct draft *draft, const yaml_node_t *node, const struct place_keys *keys,
			struct link_place *place)
{
	const char *const paths[] = {keys->nic, keys->t0, keys->t1, keys->up, keys->plane};
	const char *first = NULL;
	unsigned bits = 0;
	for (uint32_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!draft_is_given(draft, paths[i]))
			continue;
		bits |= 1u << i;
		first = first == NULL ? paths[i] : first;
	}
	if (draft_is_given(draft, keys->at)) {
		place->where = LINK_AT_ALL;
		return 0;
	}
	for (uint32_t i = 0; i < sizeof(place_kinds) / sizeof(*place_kinds); i++) {
		if (place_kinds[i].bits == bits) {
			place->where = place_kinds[i].where;
			return 0;
		}
	}
	if (first == NULL)
		return draft_refuse(draft, document_mark(node), "%s is missing", keys->at);
	return draft_refuse(
		draft, element_mark(draft, node, first),
		"%s: a place is all, {nic}, {nic, plane}, {t0, plane}, {t0, up, plane}, "
		"{t1, plane} or {plane}",
		keys->at);
}

static int check_place(struct draft *draft, const struct place_keys *keys,
		       const struct link_place *place)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	const struct plane_counts counts = count_plane(fabric);
	int rc = check_index(draft, keys->plane, place->plane, fabric->planes);
	if (rc == 0)
		rc = check_index(draft, keys->nic, place->index, fabric->nics);
	if (rc == 0)
		rc = check_index(draft, keys->t0, place->index, counts.t0);
	if (rc == 0)
		rc = check_index(draft, keys->t1, place->index, counts.t1);
	if (rc == 0)
		rc = check_index(draft, keys->up, place->port, counts.t0_up);
	return rc;
}

// ---------------------------------------------------------------- elements

// Both times of a flap, or none of another fault.
static int check_flap(struct draft *draft, const yaml_node_t *node, const struct fault *fault)
{
	static const char *const paths[] = {"faults[].down", "faults[].up"};
	for (int i = 0; i < 2; i++) {
		bool is_given = draft_is_given(draft, paths[i]);
		if (fault->kind == FAULT_FLAP && !is_given)
			return draft_refuse(draft, document_mark(node),
					    "%s is missing; a flap needs it", paths[i]);
		if (fault->kind != FAULT_FLAP && is_given)
			return draft_refuse(draft, draft_mark(draft, paths[i]),
					    "%s has no effect here; it needs faults[].kind flap",
					    paths[i]);
	}
	return 0;
}

static int check_fault(struct draft *draft, const yaml_node_t *node, const struct fault *fault)
{
	bool has_share = draft_is_given(draft, "faults[].probability");
	if (fault->kind == FAULT_LOSS && !has_share)
		return draft_refuse(draft, document_mark(node),
				    "faults[].probability is missing; a loss needs it");
	if (fault->kind != FAULT_LOSS && has_share)
		return draft_refuse(draft, draft_mark(draft, "faults[].probability"),
				    "faults[].probability has no effect here; it needs "
				    "faults[].kind loss");
	if (fault->until_ps <= fault->from_ps)
		return draft_refuse(draft, element_mark(draft, node, "faults[].until"),
				    "faults[].until: a fault must end after it begins");
	int rc = check_flap(draft, node, fault);
	return rc != 0 ? rc : check_place(draft, &fault_keys, &fault->at);
}

static int read_fault(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	struct fault *fault = &draft->scenario->faults[index];
	int rc = document_read_element(draft, document, node, "faults[]", fault);
	if (rc == 0)
		rc = settle_place(draft, node, &fault_keys, &fault->at);
	if (rc != 0)
		return rc;
	if (fault->until_ps == 0)
		fault->until_ps = PS_NEVER;
	draft->scenario->fault_lines[index] = document_mark(node).line;
	draft->scenario->fault_count = index + 1;
	return check_fault(draft, node, fault);
}

static int read_tap(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
		    uint32_t index)
{
	struct tap *tap = &draft->scenario->taps[index];
	int rc = document_read_element(draft, document, node, "taps[]", tap);
	if (rc == 0)
		rc = settle_place(draft, node, &tap_keys, &tap->at);
	if (rc != 0)
		return rc;
	if (tap->until_ps == 0)
		tap->until_ps = PS_NEVER;
	draft->scenario->tap_lines[index] = document_mark(node).line;
	draft->scenario->tap_count = index + 1;
	if (tap->until_ps <= tap->from_ps)
		return draft_refuse(draft, element_mark(draft, node, "taps[].until"),
				    "taps[].until: a tap must end after it begins");
	return check_place(draft, &tap_keys, &tap->at);
}

// Which figures a formula is made of, in the order of enum expect_formula.
static const struct {
	bool has_planes, has_time, has_loss, is_share;
} formula_uses[EXPECT_FORMULA_COUNT] = {
	[EXPECT_PLANES_LEFT] = {.has_planes = true},
	[EXPECT_PLANES_FLAPPING] = {.has_planes = true, .has_time = true},
	[EXPECT_LOSS_REPAIRED] = {.has_loss = true},
	[EXPECT_LOSS_ON_WAY] = {.has_loss = true, .is_share = true},
};

static int check_figure(struct draft *draft, const yaml_node_t *node, const char *path,
			bool is_used)
{
	bool is_given = draft_is_given(draft, path);
	if (is_used && !is_given)
		return draft_refuse(draft, document_mark(node),
				    "%s is missing; the formula needs it", path);
	if (!is_used && is_given)
		return draft_refuse(draft, draft_mark(draft, path),
				    "%s has no effect here; the formula does not use it", path);
	return 0;
}

static int check_expectation(struct draft *draft, const yaml_node_t *node,
			     const struct scenario_expect *expectation)
{
	enum expect_formula formula = expectation->formula;
	uint32_t planes = draft->scenario->fabric.planes;
	if (formula_uses[formula].is_share != (expectation->measure == EXPECT_RETRANSMITTED))
		return draft_refuse(draft, draft_mark(draft, "expect[].formula"),
				    "expect[].formula: retransmitted goes with loss_on_way, "
				    "goodput with the others");
	if (formula == EXPECT_RING_WRITES && draft->scenario->traffic.kind != TRAFFIC_RING)
		return draft_refuse(draft, draft_mark(draft, "expect[].formula"),
				    "expect[].formula: ring_writes needs traffic.kind ring");
	int rc = check_figure(draft, node, "expect[].planes", formula_uses[formula].has_planes);
	if (rc == 0)
		rc = check_figure(draft, node, "expect[].time", formula_uses[formula].has_time);
	if (rc == 0)
		rc = check_figure(draft, node, "expect[].loss", formula_uses[formula].has_loss);
	if (rc == 0 && expectation->planes > planes)
		rc = draft_refuse(draft, draft_mark(draft, "expect[].planes"),
				  "expect[].planes: %u of %u planes cannot be down",
				  expectation->planes, planes);
	return rc;
}

static int read_expectation(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
			    uint32_t index)
{
	struct scenario_expect *expectation = &draft->scenario->expectations[index];
	int rc = document_read_element(draft, document, node, "expect[]", expectation);
	draft->scenario->expectation_count = index + 1;
	return rc != 0 ? rc : check_expectation(draft, node, expectation);
}

static int read_input(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	draft->scenario->input_count = index + 1;
	return document_read_element(draft, document, node, "inputs[]",
				     &draft->scenario->inputs[index]);
}

// Reads the elements of the list key `path`, if it was given.
static int read_list(struct draft *draft, yaml_document_t *document, const char *path,
		     uint32_t count_max, read_element_fn *read_element)
{
	int key = scenario_key_find(path);
	const yaml_node_t *node = draft->lists[key];
	if (!draft->is_given[key])
		return 0;
	uint32_t index = 0;
	const yaml_node_item_t *item = node->data.sequence.items.start;
	for (; item < node->data.sequence.items.top; item++, index++) {
		const yaml_node_t *element = yaml_document_get_node(document, *item);
		if (index == count_max)
			return draft_refuse(draft, document_mark(element),
					    "%s: there are more than %u", path, count_max);
		if (element == node)
			return draft_refuse(draft, document_mark(element),
					    "%s: an alias leads back to what contains it", path);
		int rc = read_element(draft, document, element, index);
		if (rc != 0)
			return rc;
	}
	return 0;
}

int draft_read_lists(struct draft *draft, yaml_document_t *document)
{
	int rc = read_list(draft, document, "traffic.flows", SCENARIO_FLOWS_MAX, read_flow);
	if (rc == 0 && draft->scenario->traffic.kind == TRAFFIC_FLOWS &&
	    draft->scenario->traffic.flow_count == 0)
		rc = draft_refuse(draft, draft_mark(draft, "traffic.flows"),
				  "traffic.flows: at least one flow is needed");
	if (rc == 0)
		rc = read_list(draft, document, "faults", SCENARIO_FAULTS_MAX, read_fault);
	if (rc == 0)
		rc = read_list(draft, document, "taps", SCENARIO_TAPS_MAX, read_tap);
	if (rc == 0)
		rc = read_list(draft, document, "expect", SCENARIO_EXPECTATIONS_MAX,
			       read_expectation);
	if (rc == 0)
		rc = read_list(draft, document, "inputs", SCENARIO_INPUTS_MAX, read_input);
	return rc;
}
