// SPDX-License-Identifier: Apache-2.0
// The lists of a scenario: flows, faults, taps, variants, inputs; expectations are in
// scenario_expect.c. Each element is a mapping whose keys are in the table like all others; what
// must fit together is checked element by element, because each has a place of its own.

#include <string.h>

#include "scenario_reader.h"

static int check_index(struct reader *reader, const char *path, uint32_t value, uint32_t count)
{
	if (!reader_is_given(reader, path) || value < count)
		return 0;
	if (count == 0)
		return reader_refuse(reader, reader_mark(reader, path),
				     "%s: %u does not exist; there is none", path, value);
	return reader_refuse(reader, reader_mark(reader, path),
			     "%s: %u does not exist; it may be 0 to %u", path, value, count - 1);
}

static int read_flow(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t index)
{
	struct scenario *scenario = reader->scenario;
	struct flow *flow = &scenario->flows[index];
	int rc = document_read_element(reader, document, node, "traffic.flows[]", flow);
	if (rc == 0)
		rc = check_index(reader, "traffic.flows[].from", flow->from, scenario->fabric.nics);
	if (rc == 0)
		rc = check_index(reader, "traffic.flows[].to", flow->to, scenario->fabric.nics);
	if (rc == 0 && flow->from == flow->to)
		rc = reader_refuse(reader, reader_mark(reader, "traffic.flows[].to"),
				   "traffic.flows[].to: a flow cannot lead to its sender, NIC %u",
				   flow->to);
	if (rc == 0)
		rc = reader_check_shares(reader, "traffic.flows[].bytes", flow->bytes);
	if (rc == 0)
		rc = reader_read_flow_evs(reader, document, index);
	scenario->traffic.flow_count = index + 1;
	return rc;
}

// Switches of a plane, and up ports of each.
struct plane_counts {
	uint32_t t0, t0_up, t1, t1_up;
};

static struct plane_counts count_plane(const struct fabric_config *fabric)
{
	const uint32_t unknown = UINT32_MAX; // the topology itself will tell
	if (fabric->kind == TOPOLOGY_RAIL)
		return (struct plane_counts){fabric->nics_per_host,
					     fabric->t1_count * fabric->bundle, fabric->t1_count,
					     0};
	if (fabric->kind > TOPOLOGY_FAT_TREE)
		return (struct plane_counts){unknown, unknown, unknown, unknown};
	bool is_clos = fabric->kind == TOPOLOGY_CLOS;
	uint32_t below = is_clos ? fabric->nics_per_t0 : fabric->tor_nics;
	uint32_t t0 = (fabric->nics + below - 1) / below;
	if (is_clos)
		return (struct plane_counts){t0, fabric->t1_count * fabric->bundle,
					     fabric->t1_count, 0};
	return (struct plane_counts){t0, fabric->pod_aggs, t0 / fabric->pod_tors * fabric->pod_aggs,
				     fabric->cores / fabric->pod_aggs};
}

// ---------------------------------------------------------------- places

// The keys of a place, in the list that it belongs to.
struct place_keys {
	const char *at, *nic, *t0, *t1, *up, *plane, *node, *link, *host;
};

static const struct place_keys fault_keys = {
	"faults[].at",	    "faults[].at.nic",	"faults[].at.t0",
	"faults[].at.t1",   "faults[].at.up",	"faults[].at.plane",
	"faults[].at.node", "faults[].at.link", "faults[].at.host"};
static const struct place_keys tap_keys = {"taps[].at",	     "taps[].at.nic",  "taps[].at.t0",
					   "taps[].at.t1",   "taps[].at.up",   "taps[].at.plane",
					   "taps[].at.node", "taps[].at.link", "taps[].at.host"};

// What was given of a place, as bits.
enum place_bit {
	HAS_NIC = 1,
	HAS_T0 = 2,
	HAS_T1 = 4,
	HAS_UP = 8,
	HAS_PLANE = 16,
	HAS_NODE = 32,
	HAS_LINK = 64,
	HAS_HOST = 128
};

// The kinds of place, each with the keys that name it.
static const struct place_kind {
	unsigned bits;
	enum link_where where;
} place_kinds[] = {
	{HAS_PLANE, LINK_AT_PLANE},
	{HAS_NIC, LINK_AT_NIC_WHOLE},
	{HAS_NIC | HAS_PLANE, LINK_AT_NIC},
	{HAS_T0 | HAS_PLANE, LINK_AT_T0},
	{HAS_T0 | HAS_UP | HAS_PLANE, LINK_AT_TRUNK},
	{HAS_T1 | HAS_PLANE, LINK_AT_T1},
	{HAS_T1 | HAS_UP | HAS_PLANE, LINK_AT_T1_TRUNK},
	{HAS_T0 | HAS_T1 | HAS_PLANE, LINK_AT_BUNDLE},
	{HAS_NODE, LINK_AT_NODE},
	{HAS_NODE | HAS_PLANE, LINK_AT_NODE},
	{HAS_LINK, LINK_AT_EDGE},
	{HAS_LINK | HAS_PLANE, LINK_AT_EDGE},
	{HAS_HOST, LINK_AT_HOST},
};

// What only some kinds of fabric have: names of switches, or tiers of them.
static int find_names(struct reader *reader, const struct place_keys *keys, unsigned bits,
		      struct link_location *place)
{
	bool has_names = topology_has_names(reader->scenario->fabric.kind);
	if (bits & (HAS_T0 | HAS_T1) && has_names)
		return reader_refuse(reader,
				     reader_mark(reader, bits & HAS_T0 ? keys->t0 : keys->t1),
				     "%s: switches have names here; write {node: NAME} or {link: "
				     "A-B}",
				     keys->at);
	if (!(bits & (HAS_NODE | HAS_LINK)))
		return 0;
	if (!(bits & HAS_PLANE))
		place->plane = PLANE_EACH;
	return reader_find_place(reader, bits & HAS_NODE ? keys->node : keys->link, place);
}

static const struct place_kind *place_kind_of(unsigned bits)
{
	for (uint32_t i = 0; i < sizeof(place_kinds) / sizeof(*place_kinds); i++)
		if (place_kinds[i].bits == bits)
			return &place_kinds[i];
	return NULL;
}

// Finds out what kind of place `at` names, from the keys that were given.
static int settle_place(struct reader *reader, const yaml_node_t *node,
			const struct place_keys *keys, struct link_location *place)
{
	const char *const paths[] = {keys->nic,	  keys->t0,   keys->t1,	  keys->up,
				     keys->plane, keys->node, keys->link, keys->host};
	const char *first = NULL;
	unsigned bits = 0;
	for (uint32_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!reader_is_given(reader, paths[i]))
			continue;
		bits |= 1u << i;
		first = first == NULL ? paths[i] : first;
	}
	if (reader_is_given(reader, keys->at)) {
		place->where = LINK_AT_ALL;
		return 0;
	}
	const struct place_kind *kind = place_kind_of(bits);
	if (kind != NULL) {
		place->where = kind->where;
		if (place->where == LINK_AT_BUNDLE)
			place->port = place->t1;
		else if (bits & HAS_T1)
			place->index = place->t1;
		return find_names(reader, keys, bits, place);
	}
	if (first == NULL)
		return reader_refuse(reader, document_mark(node), "%s is missing", keys->at);
	if (place_kind_of(bits | HAS_PLANE) != NULL)
		return reader_refuse(reader, reader_element_mark(reader, node, first),
				     "%s: this place needs its plane, too, from plane: 0 on",
				     keys->at);
	return reader_refuse(
		reader, reader_element_mark(reader, node, first),
		"%s: a place is all, {nic}, {nic, plane}, {t0, plane}, {t0, up, plane}, "
		"{t0, t1, plane}, {t1, plane}, {t1, up, plane}, {node}, {node, plane}, {link}, "
		"{link, plane}, "
		"{host} "
		"or {plane}",
		keys->at);
}

static int check_place(struct reader *reader, const struct place_keys *keys,
		       const struct link_location *place)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	const struct plane_counts counts = count_plane(fabric);
	int rc = check_index(reader, keys->plane, place->plane, fabric->planes);
	if (rc == 0)
		rc = check_index(reader, keys->nic, place->index, fabric->nics);
	if (rc == 0)
		rc = check_index(reader, keys->host, place->index,
				 fabric->nics / fabric->nics_per_host);
	if (rc == 0)
		rc = check_index(reader, keys->t0, place->index, counts.t0);
	if (rc == 0)
		rc = check_index(reader, keys->t1, place->t1, counts.t1);
	if (rc == 0)
		rc = check_index(reader, keys->up, place->port,
				 place->where == LINK_AT_T1_TRUNK ? counts.t1_up : counts.t0_up);
	return rc;
}

// ---------------------------------------------------------------- elements

#define KIND(kind) (1u << (kind))
#define SHARE_KINDS \
	(KIND(FAULT_LOSS) | KIND(FAULT_CORRUPT) | KIND(FAULT_DUPLICATE) | KIND(FAULT_REORDER))
#define SETTING_KINDS (KIND(FAULT_ECN) | KIND(FAULT_EVS))

// The keys that some kinds of fault may have, and which of these need them.
static const struct {
	const char *path;
	uint32_t may, must; // kinds, a bit each
	const char *needs;
} fault_figures[] = {
	{"faults[].probability", SHARE_KINDS | KIND(FAULT_BURST), SHARE_KINDS,
	 "loss, corrupt, duplicate, reorder or burst"},
	{"faults[].delay", KIND(FAULT_REORDER), KIND(FAULT_REORDER), "reorder"},
	{"faults[].rate", KIND(FAULT_SLOW) | KIND(FAULT_STRAGGLER),
	 KIND(FAULT_SLOW) | KIND(FAULT_STRAGGLER), "slow or straggler"},
	{"faults[].down", KIND(FAULT_FLAP), KIND(FAULT_FLAP), "flap"},
	{"faults[].up", KIND(FAULT_FLAP), KIND(FAULT_FLAP), "flap"},
	{"faults[].queue", KIND(FAULT_STALL), 0, "stall"},
	{"faults[].burst", KIND(FAULT_BURST), 0, "burst"},
	{"faults[].enter", KIND(FAULT_BURST), 0, "burst"},
	{"faults[].leave", KIND(FAULT_BURST), 0, "burst"},
	{"faults[].bad_loss", KIND(FAULT_BURST), 0, "burst"},
	{"faults[].good_loss", KIND(FAULT_BURST), 0, "burst"},
	{"faults[].low", KIND(FAULT_ECN), KIND(FAULT_ECN), "ecn"},
	{"faults[].high", KIND(FAULT_ECN), KIND(FAULT_ECN), "ecn"},
	{"faults[].evs", KIND(FAULT_EVS), KIND(FAULT_EVS), "evs"},
	{"faults[].from", ~SETTING_KINDS, 0, "other than ecn and evs"},
	{"faults[].until", ~SETTING_KINDS, 0, "other than ecn and evs"},
};

// The keys of a burst come in two sets; of one all must be given, of the other none.
static const struct {
	const char *path;
	bool is_of_chances, is_needed;
} burst_figures[] = {
	{"faults[].probability", false, true}, {"faults[].burst", false, true},
	{"faults[].enter", true, true},	       {"faults[].leave", true, true},
	{"faults[].bad_loss", true, false},    {"faults[].good_loss", true, false},
};

static int check_burst(struct reader *reader, const yaml_node_t *node)
{
	bool has_chances = reader_is_given(reader, "faults[].enter") ||
		reader_is_given(reader, "faults[].leave");
	for (size_t i = 0; i < sizeof(burst_figures) / sizeof(*burst_figures); i++) {
		const char *path = burst_figures[i].path;
		bool is_given = reader_is_given(reader, path);
		bool is_right = burst_figures[i].is_of_chances == has_chances;
		if (is_given && !is_right)
			return reader_refuse(reader, reader_mark(reader, path),
					     "%s has no effect here; a burst has probability and "
					     "burst, or enter and leave",
					     path);
		if (!is_given && is_right && burst_figures[i].is_needed)
			return reader_refuse(reader, document_mark(node),
					     "%s is missing; a burst has probability and burst, or "
					     "enter and leave",
					     path);
	}
	return 0;
}

static int check_figures(struct reader *reader, const yaml_node_t *node, const struct fault *fault)
{
	for (size_t i = 0; i < sizeof(fault_figures) / sizeof(*fault_figures); i++) {
		const char *path = fault_figures[i].path;
		bool is_given = reader_is_given(reader, path);
		if (!is_given && fault_figures[i].must & KIND(fault->kind))
			return reader_refuse(reader, document_mark(node),
					     "%s is missing; faults[].kind %s needs it", path,
					     scenario_fault_name(fault->kind));
		if (is_given && !(fault_figures[i].may & KIND(fault->kind)))
			return reader_refuse(reader, reader_mark(reader, path),
					     "%s has no effect here; it needs faults[].kind %s",
					     path, fault_figures[i].needs);
	}
	return fault->kind == FAULT_BURST ? check_burst(reader, node) : 0;
}

// A host is hit as a whole, and a straggler must have something to be late with.
static int check_host_fault(struct reader *reader, const yaml_node_t *node,
			    const struct fault *fault)
{
	enum traffic_kind kind = reader->scenario->traffic.kind;
	bool has_work = kind == TRAFFIC_MODEL || kind == TRAFFIC_TRACE || kind == TRAFFIC_FLOWS ||
		kind == TRAFFIC_GRADIENTS || kind == TRAFFIC_MATRIX || kind == TRAFFIC_GOAL ||
		scenario_jobs_compute(reader->scenario);
	if (reader_is_given(reader, "faults[].way"))
		return reader_refuse(reader, reader_mark(reader, "faults[].way"),
				     "faults[].way has no effect here; a host is hit as a whole");
	if (fault->at.where != LINK_AT_HOST && fault->at.where != LINK_AT_ALL)
		return reader_refuse(reader, document_mark(node),
				     "faults[].at: a host is hit as a whole; write {host} or all");
	if (fault->kind == FAULT_STALL && fault->until_ps == PS_NEVER)
		return reader_refuse(
			reader, reader_element_mark(reader, node, "faults[].until"),
			"faults[].until: a stall ends; a host that is gone for good is a "
			"link_down there");
	if (fault->kind == FAULT_STRAGGLER && !has_work)
		return reader_refuse(
			reader, document_mark(node),
			"faults[].kind: a straggler has no effect here; it needs "
			"traffic.kind model, trace, flows, matrix, goal or gradients, or such "
			"a job");
	return 0;
}

// Marking is a switch's; so many entropy values are as many for each plane, and a power of two.
static int check_setting(struct reader *reader, const yaml_node_t *node, const struct fault *fault)
{
	const struct scenario *scenario = reader->scenario;
	enum link_where where = fault->at.where;
	uint32_t planes = scenario->fabric.planes, per_plane = fault->ev_count / planes;
	if (fault->kind == FAULT_EVS && scenario->flow_evs_count > 0)
		return reader_refuse(reader, reader_mark(reader, "faults[].evs"),
				     "faults[].evs: flows have sets of their own here "
				     "(traffic.flows[].evs), which are of transport.evs");
	if (fault->kind == FAULT_EVS) {
		if (fault->ev_count % planes == 0 && per_plane > 0 &&
		    (per_plane & (per_plane - 1)) == 0 &&
		    fault->ev_count <= ev_universe(&scenario->transport))
			return 0;
		return reader_refuse(reader, reader_mark(reader, "faults[].evs"),
				     "faults[].evs: for each of the %u planes a power of two, and "
				     "no more than transport.evs",
				     planes);
	}
	if (reader_is_given(reader, "faults[].way"))
		return reader_refuse(reader, reader_mark(reader, "faults[].way"),
				     "faults[].way has no effect here; a switch is set as a whole");
	if (where != LINK_AT_T0 && where != LINK_AT_T1 && where != LINK_AT_NODE)
		return reader_refuse(reader, document_mark(node),
				     "faults[].at: marking is set for a switch; write {t0, plane}, "
				     "{t1, plane} or {node}");
	if (!scenario->fabric.ecn_on)
		return reader_refuse(reader, document_mark(node),
				     "faults[].kind: ecn has no effect here; it needs queue.ecn "
				     "true");
	if (fault->ecn_low_bytes > fault->ecn_high_bytes)
		return reader_refuse(reader, reader_mark(reader, "faults[].low"),
				     "faults[].low: marking starts at most at faults[].high");
	return 0;
}

static int check_fault(struct reader *reader, const yaml_node_t *node, const struct fault *fault)
{
	int rc = check_figures(reader, node, fault);
	if (rc == 0 && fault_is_of_host(fault->kind))
		rc = check_host_fault(reader, node, fault);
	if (rc == 0 && fault_is_setting(fault->kind))
		rc = check_setting(reader, node, fault);
	if (rc != 0)
		return rc;
	if (fault->until_ps <= fault->from_ps)
		return reader_refuse(reader, reader_element_mark(reader, node, "faults[].until"),
				     "faults[].until: a fault must end after it begins");
	return check_place(reader, &fault_keys, &fault->at);
}

int reader_read_fault(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	struct fault *fault = &reader->scenario->faults[index];
	int rc = document_read_element(reader, document, node, "faults[]", fault);
	if (rc == 0)
		rc = settle_place(reader, node, &fault_keys, &fault->at);
	if (rc != 0)
		return rc;
	if (fault->until_ps == 0)
		fault->until_ps = PS_NEVER;
	reader->scenario->fault_lines[index] = document_mark(node).line;
	reader->scenario->fault_count = index + 1;
	return check_fault(reader, node, fault);
}

int reader_read_tap(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		    uint32_t index)
{
	struct tap *tap = &reader->scenario->taps[index];
	int rc = document_read_element(reader, document, node, "taps[]", tap);
	if (rc == 0)
		rc = settle_place(reader, node, &tap_keys, &tap->at);
	if (rc != 0)
		return rc;
	if (tap->until_ps == 0)
		tap->until_ps = PS_NEVER;
	reader->scenario->tap_lines[index] = document_mark(node).line;
	reader->scenario->tap_count = index + 1;
	if (tap->until_ps <= tap->from_ps)
		return reader_refuse(reader, reader_element_mark(reader, node, "taps[].until"),
				     "taps[].until: a tap must end after it begins");
	return check_place(reader, &tap_keys, &tap->at);
}

// Whether the value of a key stands in quotes.
static bool is_quoted(yaml_document_t *document, const yaml_node_t *node, const char *name)
{
	const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	for (; pair < node->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = yaml_document_get_node(document, pair->key);
		const yaml_node_t *value = yaml_document_get_node(document, pair->value);
		if (strcmp((const char *)key->data.scalar.value, name) == 0)
			return value->data.scalar.style == YAML_SINGLE_QUOTED_SCALAR_STYLE ||
				value->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE;
	}
	return false;
}

static int read_variant(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
			uint32_t index)
{
	struct scenario *scenario = reader->scenario;
	struct scenario_variant *variant = &scenario->variants[index];
	int rc = document_read_element(reader, document, node, "variants[]", variant);
	if (rc != 0)
		return rc;
	const struct mark mark = reader_element_mark(reader, node, "variants[].set");
	variant->line = mark.line;
	variant->column = mark.column + is_quoted(document, node, "set");
	scenario->variant_count = index + 1;
	if (variant->name[0] == '\0' || strchr(variant->name, ' ') != NULL)
		return reader_refuse(reader, reader_mark(reader, "variants[].name"),
				     "variants[].name: a name is one word");
	for (uint32_t i = 0; i < index; i++)
		if (strcmp(scenario->variants[i].name, variant->name) == 0)
			return reader_refuse(reader, reader_mark(reader, "variants[].name"),
					     "variants[].name: %s appears twice", variant->name);
	return 0;
}

static int read_input(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		      uint32_t index)
{
	reader->scenario->input_count = index + 1;
	return document_read_element(reader, document, node, "inputs[]",
				     &reader->scenario->inputs[index]);
}

int reader_read_lists(struct reader *reader, yaml_document_t *document)
{
	bool is_graph = reader->scenario->fabric.kind == TOPOLOGY_GRAPH;
	int rc = reader_read_evs(reader, document);
	if (rc == 0)
		rc = reader_read_list(reader, document, "fabric.nodes", SCENARIO_NODES_MAX,
				      reader_read_node);
	if (rc == 0)
		rc = reader_read_list(reader, document, "fabric.links", SCENARIO_LINKS_MAX,
				      reader_read_link);
	if (rc == 0 && is_graph)
		rc = reader_check_graph(reader);
	if (rc == 0)
		rc = reader_read_list(reader, document, "traffic.flows", SCENARIO_FLOWS_MAX,
				      read_flow);
	if (rc == 0 && reader->scenario->traffic.kind == TRAFFIC_FLOWS &&
	    reader->scenario->traffic.flow_count == 0)
		rc = reader_refuse(reader, reader_mark(reader, "traffic.flows"),
				   "traffic.flows: at least one flow is needed");
	if (rc == 0)
		rc = reader_read_jobs(reader, document);
	if (rc == 0)
		rc = reader_read_list(reader, document, "faults", SCENARIO_FAULTS_MAX,
				      reader_read_fault);
	if (rc == 0)
		rc = reader_read_list(reader, document, "taps", SCENARIO_TAPS_MAX, reader_read_tap);
	if (rc == 0)
		rc = reader_read_list(reader, document, "variants", SCENARIO_VARIANTS_MAX,
				      read_variant);
	if (rc == 0)
		rc = reader_read_list(reader, document, "expect", SCENARIO_EXPECTATIONS_MAX,
				      reader_read_expectation);
	if (rc == 0)
		rc = reader_read_list(reader, document, "inputs", SCENARIO_INPUTS_MAX, read_input);
	return rc;
}
