// SPDX-License-Identifier: Apache-2.0
// The lists of a scenario: flows, faults, taps, inputs. Each element is a mapping whose keys are in
// the table like all others; what must fit together is checked element by element, because each has
// a place of its own.

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

// T0 switches of a plane and up ports of each.
static void count_t0(const struct fabric_config *fabric, uint32_t *ret_t0, uint32_t *ret_up)
{
	bool is_clos = fabric->kind == TOPOLOGY_CLOS;
	uint32_t below = is_clos ? fabric->nics_per_t0 : fabric->tor_nics;
	*ret_t0 = (fabric->nics + below - 1) / below;
	*ret_up = is_clos ? fabric->t1_count * fabric->bundle : fabric->pod_aggs;
}

// ---------------------------------------------------------------- places

// The keys of a place, in the list that it belongs to.
struct place_keys {
	const char *at, *nic, *t0, *up, *plane;
};

static const struct place_keys fault_keys = {"faults[].at", "faults[].at.nic", "faults[].at.t0",
					     "faults[].at.up", "faults[].at.plane"};
static const struct place_keys tap_keys = {"taps[].at", "taps[].at.nic", "taps[].at.t0",
					   "taps[].at.up", "taps[].at.plane"};

// Finds out what kind of place `at` names, from the keys that were given.
static int settle_place(struct draft *draft, const yaml_node_t *node, const struct place_keys *keys,
			struct link_place *place)
{
	bool has_nic = draft_is_given(draft, keys->nic);
	bool has_t0 = draft_is_given(draft, keys->t0);
	bool has_up = draft_is_given(draft, keys->up);
	bool has_plane = draft_is_given(draft, keys->plane);
	const char *first = has_nic ? keys->nic : has_t0 ? keys->t0 : keys->up;
	if (draft_is_given(draft, keys->at))
		place->where = LINK_AT_ALL;
	else if (has_nic && has_plane && !has_t0 && !has_up)
		place->where = LINK_AT_NIC;
	else if (has_t0 && has_up && has_plane && !has_nic)
		place->where = LINK_AT_TRUNK;
	else if (has_plane && !has_nic && !has_t0 && !has_up)
		place->where = LINK_AT_PLANE;
	else if (!has_nic && !has_t0 && !has_up)
		return draft_refuse(draft, document_mark(node), "%s is missing", keys->at);
	else
		return draft_refuse(draft, element_mark(draft, node, first),
				    "%s: a place is all, {nic, plane}, {t0, up, plane} or {plane}",
				    keys->at);
	return 0;
}

static int check_place(struct draft *draft, const struct place_keys *keys,
		       const struct link_place *place)
{
	const struct fabric_config *fabric = &draft->scenario->fabric;
	uint32_t t0_count, up_count;
	count_t0(fabric, &t0_count, &up_count);
	int rc = check_index(draft, keys->plane, place->plane, fabric->planes);
	if (rc == 0)
		rc = check_index(draft, keys->nic, place->index, fabric->nics);
	if (rc == 0)
		rc = check_index(draft, keys->t0, place->index, t0_count);
	if (rc == 0)
		rc = check_index(draft, keys->up, place->port, up_count);
	return rc;
}

// ---------------------------------------------------------------- elements

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
	return check_place(draft, &fault_keys, &fault->at);
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
		rc = read_list(draft, document, "inputs", SCENARIO_INPUTS_MAX, read_input);
	return rc;
}
