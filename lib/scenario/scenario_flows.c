// SPDX-License-Identifier: Apache-2.0
// The flows of a scenario: whether a pattern of them fits the fabric, and whether the QPs of a
// connection have each a share of them. Those of a matrix are checked when it is read.

#include "scenario_reader.h"

static int check_pattern(struct reader *reader)
{
	const struct traffic_config *traffic = &reader->scenario->traffic;
	uint32_t nics = reader->scenario->fabric.nics;
	if (traffic->kind == TRAFFIC_INCAST && traffic->senders >= nics)
		return reader_refuse(reader, reader_mark(reader, "traffic.senders"),
				     "traffic.senders: %u senders and a receiver need more than %u "
				     "NICs",
				     traffic->senders, nics);
	if (traffic->kind == TRAFFIC_OUTCAST && traffic->receivers >= nics)
		return reader_refuse(reader, reader_mark(reader, "traffic.receivers"),
				     "traffic.receivers: %u receivers and a sender need more than "
				     "%u NICs",
				     traffic->receivers, nics);
	if (traffic->kind == TRAFFIC_TORNADO && nics % 2 != 0)
		return reader_refuse(
			reader, reader_mark(reader, "traffic.kind"),
			"traffic.kind: a tornado needs two halves, but %u NICs are odd", nics);
	if (traffic->kind == TRAFFIC_BUTTERFLY && pattern_butterfly_rounds(nics) == 0)
		return reader_refuse(reader, reader_mark(reader, "traffic.kind"),
				     "traffic.kind: a butterfly needs 2, 4, 8, ... NICs, not %u",
				     nics);
	return 0;
}

int reader_check_shares(struct reader *reader, const char *path, uint64_t bytes)
{
	uint32_t qps = reader->scenario->qps_per_connection;
	if (flow_last_share_bytes(bytes, qps) > 0)
		return 0;
	return reader_refuse(
		reader, reader_mark(reader, path),
		"%s: %u QPs (transport.qps_per_connection) share %llu B by %llu B each, "
		"which leaves the last of them nothing; take fewer",
		path, qps, (unsigned long long)bytes,
		(unsigned long long)flow_share_bytes(bytes, qps));
}

int reader_check_flows(struct reader *reader)
{
	const struct traffic_config *traffic = &reader->scenario->traffic;
	if (!scenario_use_holds(USE_BYTES, reader->scenario))
		return 0;
	if (traffic->bytes > UINT32_MAX)
		return reader_refuse(reader, reader_mark(reader, "traffic.bytes"),
				     "traffic.bytes: a message has at most 4294967295 B");
	int rc = check_pattern(reader);
	if (rc == 0)
		rc = reader_check_shares(reader, "traffic.bytes", traffic->bytes);
	return rc;
}

// ---------------------------------------------------------------- entropy values of a flow

#define EVS "traffic.flows[].evs"

static int refuse_number(struct reader *reader, const yaml_node_t *node, uint32_t number)
{
	uint32_t evs = reader->scenario->transport.ev_count;
	return reader_refuse(reader, document_mark(node),
			     EVS
			     ": %u is not one of the %u (transport.evs), which have the numbers "
			     "0 to %u",
			     number, evs, evs - 1);
}

static int read_count(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      struct flow_evs *evs)
{
	const struct scenario_key key = {
		.path = EVS, .unit = "count", .size = 4, .min = 1, .max = 65536, .zero = "all"};
	uint32_t all = reader->scenario->transport.ev_count;
	int rc = document_read_single(reader, document, node, &key, &evs->count);
	if (rc != 0 || evs->count <= all)
		return rc;
	return reader_refuse(reader, document_mark(node),
			     EVS ": %u are more than transport.evs, %u", evs->count, all);
}

// One more number of the list that began at `first`.
static int read_number(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		       uint32_t first)
{
	const struct scenario_key key = {
		.path = EVS "[]", .unit = "count", .size = 4, .max = 65535};
	struct scenario *scenario = reader->scenario;
	uint32_t number;
	int rc = document_read_single(reader, document, node, &key, &number);
	if (rc != 0)
		return rc;
	if (number >= scenario->transport.ev_count)
		return refuse_number(reader, node, number);
	for (uint32_t i = first; i < scenario->flow_ev_count; i++)
		if (scenario->flow_ev_numbers[i] == number)
			return reader_refuse(reader, document_mark(node), EVS ": %u appears twice",
					     number);
	if (scenario->flow_ev_count == SCENARIO_FLOW_EVS_MAX)
		return reader_refuse(reader, document_mark(node),
				     EVS ": the lists of all flows have more than %u numbers",
				     SCENARIO_FLOW_EVS_MAX);
	scenario->flow_ev_numbers[scenario->flow_ev_count++] = (uint16_t)number;
	return 0;
}

static int read_numbers(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			struct flow_evs *evs)
{
	struct scenario *scenario = reader->scenario;
	const yaml_node_item_t *item = node->data.sequence.items.start;
	int rc = 0;
	evs->is_list = true;
	evs->first = scenario->flow_ev_count;
	for (; rc == 0 && item < node->data.sequence.items.top; item++)
		rc = read_number(reader, document, yaml_document_get_node(document, *item),
				 evs->first);
	evs->count = scenario->flow_ev_count - evs->first;
	if (rc == 0 && evs->count == 0)
		rc = reader_refuse(reader, document_mark(node),
				   EVS ": an empty list leaves the flow no path");
	return rc;
}

// A set is of the values of a profile that none is taken from, and of a QP that keeps its context.
static int check_evs(struct reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	struct mark mark = reader_mark(reader, EVS);
	char needs[USE_NAME_BYTES];
	if (!scenario_use_holds(USE_TURNS, scenario)) {
		scenario_use_write(needs, sizeof(needs), USE_TURNS);
		return reader_refuse(reader, mark, EVS " has no effect here; it needs %s", needs);
	}
	if (scenario->transport.ev_denied_count > 0)
		return reader_refuse(reader, mark,
				     EVS
				     ": transport.deny takes values from all QPs; leave it out, "
				     "or leave them out of the sets");
	if (scenario->transport.contexts != 0)
		return reader_refuse(reader, mark,
				     EVS ": with transport.contexts a QP that rests forgets its "
					 "paths");
	return 0;
}

int reader_read_flow_evs(struct reader *reader, yaml_document_t *document, uint32_t index)
{
	struct flow_evs *evs = &reader->scenario->flow_evs[index];
	int key = scenario_key_find(EVS);
	if (!reader->is_given[key])
		return 0;
	const yaml_node_t *node = reader->lists[key];
	int rc = check_evs(reader);
	if (rc == 0 && node->type == YAML_SCALAR_NODE)
		rc = read_count(reader, document, node, evs);
	else if (rc == 0)
		rc = read_numbers(reader, document, node, evs);
	reader->scenario->flow_evs_count += evs->count > 0;
	return rc;
}
