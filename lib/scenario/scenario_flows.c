// SPDX-License-Identifier: Apache-2.0
// The flows of a scenario: whether a pattern of them fits the fabric, and whether the QPs of a
// connection have each a share of them. Those of a matrix are checked when it is read.

#include "scenario_draft.h"

static int check_pattern(struct draft *draft)
{
	const struct traffic_config *traffic = &draft->scenario->traffic;
	uint32_t nics = draft->scenario->fabric.nics;
	if (traffic->kind == TRAFFIC_INCAST && traffic->senders >= nics)
		return draft_refuse(draft, draft_mark(draft, "traffic.senders"),
				    "traffic.senders: %u senders and a receiver need more than %u "
				    "NICs",
				    traffic->senders, nics);
	if (traffic->kind == TRAFFIC_OUTCAST && traffic->receivers >= nics)
		return draft_refuse(draft, draft_mark(draft, "traffic.receivers"),
				    "traffic.receivers: %u receivers and a sender need more than "
				    "%u NICs",
				    traffic->receivers, nics);
	if (traffic->kind == TRAFFIC_TORNADO && nics % 2 != 0)
		return draft_refuse(draft, draft_mark(draft, "traffic.kind"),
				    "traffic.kind: a tornado needs two halves, but %u NICs are odd",
				    nics);
	if (traffic->kind == TRAFFIC_BUTTERFLY && pattern_butterfly_rounds(nics) == 0)
		return draft_refuse(draft, draft_mark(draft, "traffic.kind"),
				    "traffic.kind: a butterfly needs 2, 4, 8, ... NICs, not %u",
				    nics);
	return 0;
}

int draft_check_shares(struct draft *draft, const char *path, uint64_t bytes)
{
	uint32_t qps = draft->scenario->qps_per_connection;
	if (flow_last_share_bytes(bytes, qps) > 0)
		return 0;
	return draft_refuse(
		draft, draft_mark(draft, path),
		"%s: %u QPs (transport.qps_per_connection) share %llu B by %llu B each, "
		"which leaves the last of them nothing; take fewer",
		path, qps, (unsigned long long)bytes,
		(unsigned long long)flow_share_bytes(bytes, qps));
}

int draft_check_flows(struct draft *draft)
{
	const struct traffic_config *traffic = &draft->scenario->traffic;
	if (!scenario_use_holds(USE_BYTES, draft->scenario))
		return 0;
	if (traffic->bytes > UINT32_MAX)
		return draft_refuse(draft, draft_mark(draft, "traffic.bytes"),
				    "traffic.bytes: a message has at most 4294967295 B");
	int rc = check_pattern(draft);
	if (rc == 0)
		rc = draft_check_shares(draft, "traffic.bytes", traffic->bytes);
	return rc;
}

// ---------------------------------------------------------------- entropy values of a flow

#define EVS "traffic.flows[].evs"

static int refuse_number(struct draft *draft, const yaml_node_t *node, uint32_t number)
{
	uint32_t evs = draft->scenario->transport.ev_count;
	return draft_refuse(draft, document_mark(node),
			    EVS ": %u is not one of the %u (transport.evs), which have the numbers "
				"0 to %u",
			    number, evs, evs - 1);
}

static int read_count(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
		      struct flow_evs *evs)
{
	const struct scenario_key key = {
		.path = EVS, .unit = "count", .size = 4, .min = 1, .max = 65536, .zero = "all"};
	uint32_t all = draft->scenario->transport.ev_count;
	int rc = document_read_single(draft, document, node, &key, &evs->count);
	if (rc != 0 || evs->count <= all)
		return rc;
	return draft_refuse(draft, document_mark(node), EVS ": %u are more than transport.evs, %u",
			    evs->count, all);
}

// One more number of the list that began at `first`.
static int read_number(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
		       uint32_t first)
{
	const struct scenario_key key = {
		.path = EVS "[]", .unit = "count", .size = 4, .max = 65535};
	struct scenario *scenario = draft->scenario;
	uint32_t number;
	int rc = document_read_single(draft, document, node, &key, &number);
	if (rc != 0)
		return rc;
	if (number >= scenario->transport.ev_count)
		return refuse_number(draft, node, number);
	for (uint32_t i = first; i < scenario->flow_ev_count; i++)
		if (scenario->flow_ev_numbers[i] == number)
			return draft_refuse(draft, document_mark(node), EVS ": %u is here twice",
					    number);
	if (scenario->flow_ev_count == SCENARIO_FLOW_EVS_MAX)
		return draft_refuse(draft, document_mark(node),
				    EVS ": the lists of all flows have more than %u numbers",
				    SCENARIO_FLOW_EVS_MAX);
	scenario->flow_ev_numbers[scenario->flow_ev_count++] = (uint16_t)number;
	return 0;
}

static int read_numbers(struct draft *draft, yaml_document_t *document, const yaml_node_t *node,
			struct flow_evs *evs)
{
	struct scenario *scenario = draft->scenario;
	const yaml_node_item_t *item = node->data.sequence.items.start;
	int rc = 0;
	evs->is_list = true;
	evs->first = scenario->flow_ev_count;
	for (; rc == 0 && item < node->data.sequence.items.top; item++)
		rc = read_number(draft, document, yaml_document_get_node(document, *item),
				 evs->first);
	evs->count = scenario->flow_ev_count - evs->first;
	if (rc == 0 && evs->count == 0)
		rc = draft_refuse(draft, document_mark(node),
				  EVS ": an empty list leaves the flow no path");
	return rc;
}

// A set is of the values of a profile that none is taken from, and of a QP that keeps its context.
static int check_evs(struct draft *draft)
{
	const struct scenario *scenario = draft->scenario;
	struct mark mark = draft_mark(draft, EVS);
	char needs[USE_NAME_BYTES];
	if (!scenario_use_holds(USE_TURNS, scenario)) {
		scenario_use_write(needs, sizeof(needs), USE_TURNS);
		return draft_refuse(draft, mark, EVS " has no effect here; it needs %s", needs);
	}
	if (scenario->transport.ev_denied_count > 0)
		return draft_refuse(draft, mark,
				    EVS ": transport.deny takes values from all QPs; leave it out, "
					"or leave them out of the sets");
	if (scenario->transport.contexts != 0)
		return draft_refuse(draft, mark,
				    EVS ": with transport.contexts a QP that rests forgets its "
					"paths");
	return 0;
}

int draft_read_flow_evs(struct draft *draft, yaml_document_t *document, uint32_t index)
{
	struct flow_evs *evs = &draft->scenario->flow_evs[index];
	int key = scenario_key_find(EVS);
	if (!draft->is_given[key])
		return 0;
	const yaml_node_t *node = draft->lists[key];
	int rc = check_evs(draft);
	if (rc == 0 && node->type == YAML_SCALAR_NODE)
		rc = read_count(draft, document, node, evs);
	else if (rc == 0)
		rc = read_numbers(draft, document, node, evs);
	draft->scenario->flow_evs_count += evs->count > 0;
	return rc;
}
