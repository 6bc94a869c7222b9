// SPDX-License-Identifier: Apache-2.0
// Culprits as people read them. See culprit.h.

#include "culprit.h"

#include <inttypes.h>
#include <string.h>

#include "culprit_tail.h"
#include "slowest.h"
#include <weft/diagnose/diagnose.h>
#include <weft/result/links.h>
#include <weft/result/number.h>
#include <weft/result/put.h>

#define EVIDENCE_BYTES 160
#define NOT_WATCHED "not measured: watch.links is false"

static const char *const findings[CULPRIT_FINDING_COUNT] = {
	[CULPRIT_DOWN] = "down",     [CULPRIT_SILENT] = "silent",   [CULPRIT_LOSSY] = "lossy",
	[CULPRIT_TWICE] = "doubled", [CULPRIT_ORDER] = "reordered", [CULPRIT_STALLED] = "stalled",
	[CULPRIT_SLOW] = "slow",     [CULPRIT_EVS] = "few_paths",   [CULPRIT_ECN] = "ecn",
	[CULPRIT_LATE] = "late"};

static const char *const units[CULPRIT_FINDING_COUNT] = {
	[CULPRIT_DOWN] = "share of packets lost",
	[CULPRIT_SILENT] = "share of packets lost",
	[CULPRIT_LOSSY] = "share of packets lost or damaged",
	[CULPRIT_TWICE] = "share of packets that came twice",
	[CULPRIT_ORDER] = "share of packets held back",
	[CULPRIT_SLOW] = "share of the rate",
	[CULPRIT_STALLED] = "ps that a packet waited",
	[CULPRIT_EVS] = "evenness of paths",
	[CULPRIT_ECN] = "bytes queued",
	[CULPRIT_LATE] = "time taken over time planned"};

// No counter tells the two ends of a cable that carries nothing apart.
static const char *const silences[] = {
	[LINK_STATE_UNKNOWN] =
		"carries nothing, other ports of its NIC do: at which end is not known",
	[LINK_STATE_UP] = "carries nothing, but has light: look at its peers and the way there",
	[LINK_STATE_DOWN] = "carries nothing, no light: at which end, or on the way, is not known"};

static void packets_evidence(const struct culprit *culprit, char *ret, size_t bytes)
{
	struct text text[5];
	const char *lost = number_grouped(&text[0], culprit->lost);
	const char *packets = number_grouped(&text[1], culprit->packets);
	const char *share = number_share(&text[2], culprit->measured);
	const char *since = number_time(&text[3], culprit->since_ps);
	const char *longest = number_time(&text[4], culprit->longest_ps);
	if (culprit->finding == CULPRIT_TWICE)
		snprintf(ret, bytes,
			 "delivered twice %s of the packets sent into it (%s of %s), from %s on",
			 share, lost, packets, since);
	else if (culprit->finding == CULPRIT_ORDER)
		snprintf(
			ret, bytes,
			"held back %s of the packets sent into it (%s of %s), up to %s, from %s on",
			share, lost, packets, longest, since);
	else if (culprit->finding == CULPRIT_DOWN)
		snprintf(ret, bytes,
			 "lost %s of %s packets while it was down, from %s on; went down %" PRIu64
			 " %s",
			 lost, packets, since, culprit->downs,
			 culprit->downs == 1 ? "time" : "times");
	else
		snprintf(ret, bytes,
			 "lost or damaged %s of the packets sent into it (%s of %s), from %s on",
			 share, lost, packets, since);
}

static void stall_evidence(const struct culprit *culprit, char *ret, size_t bytes)
{
	struct text text[3];
	snprintf(ret, bytes,
		 "took nothing for a while: %s packets waited at its ports, up to %s, from %s on",
		 number_grouped(&text[0], culprit->lost),
		 number_time(&text[1], culprit->longest_ps),
		 number_time(&text[2], culprit->since_ps));
}

static void ecn_evidence(const struct culprit *culprit, char *ret, size_t bytes)
{
	struct text text[2];
	const char *measured = number_bytes(&text[0], (uint64_t)culprit->measured);
	const char *expected = number_bytes(&text[1], (uint64_t)culprit->expected);
	switch (culprit->marks) {
	case MARKS_EARLY:
		snprintf(ret, bytes, "marks at %s already; marking starts above %s", measured,
			 expected);
		break;
	case MARKS_LATE:
		snprintf(ret, bytes, "left a packet unmarked at %s; all are marked above %s",
			 measured, expected);
		break;
	default:
		snprintf(ret, bytes,
			 "marked %.0f packets; by the depth of its queues %.1f were due",
			 culprit->measured, culprit->expected);
	}
}

void culprit_evidence(const struct culprit *culprit, char *ret, size_t bytes)
{
	struct text text;
	switch (culprit->finding) {
	case CULPRIT_DOWN:
	case CULPRIT_LOSSY:
	case CULPRIT_TWICE:
	case CULPRIT_ORDER:
		packets_evidence(culprit, ret, bytes);
		break;
	case CULPRIT_SILENT:
		snprintf(ret, bytes, "%s", silences[culprit->link_state]);
		break;
	case CULPRIT_SLOW:
		snprintf(ret, bytes, "sends at %s of its rate",
			 number_share(&text, culprit->measured));
		break;
	case CULPRIT_STALLED:
		stall_evidence(culprit, ret, bytes);
		break;
	case CULPRIT_EVS:
		snprintf(ret, bytes,
			 "its packets take few paths: evenness %.3f, in the middle NIC %.3f",
			 culprit->measured, culprit->expected);
		break;
	case CULPRIT_ECN:
		ecn_evidence(culprit, ret, bytes);
		break;
	default:
		snprintf(ret, bytes,
			 "its own work takes %.3f times as planned, that of the middle host %.3f",
			 culprit->measured, culprit->expected);
	}
}

// ---------------------------------------------------------------- outputs

static const char *unit_of(const struct culprit *culprit)
{
	bool is_packets = culprit->finding == CULPRIT_ECN && culprit->marks >= MARKS_FEW;
	return is_packets ? "packets marked" : units[culprit->finding];
}

// Which way of its links stands out; NULL where no link does.
static const char *direction_of(const struct culprit *culprit)
{
	if (culprit->up && culprit->down)
		return "both";
	return culprit->up ? "up" : culprit->down ? "down" : NULL;
}

static void put_since(json_t *row, const struct culprit *culprit)
{
	static const bool has_since[CULPRIT_FINDING_COUNT] = {
		[CULPRIT_DOWN] = true,	[CULPRIT_LOSSY] = true,	  [CULPRIT_TWICE] = true,
		[CULPRIT_ORDER] = true, [CULPRIT_STALLED] = true,
	};
	if (has_since[culprit->finding] && culprit->since_ps != PS_NEVER)
		put_time(row, "since_ps", culprit->since_ps);
	else
		put_reason(row, "since_ps", "no first packet shows it");
}

static void put_culprit(json_t *array, const struct culprit *culprit, const struct world *world,
			const struct worst_steps *steps)
{
	char name[WORLD_CABLE_NAME_BYTES], evidence[EVIDENCE_BYTES];
	json_t *row = row_in(array);
	culprit_name(culprit, world, name, sizeof(name));
	culprit_evidence(culprit, evidence, sizeof(evidence));
	put_text(row, "place", culprit_location_name(culprit->place));
	put_text(row, "name", name);
	put_text(row, "finding", findings[culprit->finding]);
	put_count(row, "links", culprit->links);
	put_count(row, "links_of", culprit->links_of);
	put_real(row, "measured", culprit->measured);
	put_real(row, "expected", culprit->expected);
	put_text(row, "unit", unit_of(culprit));
	put_text(row, "way", direction_of(culprit));
	put_text(row, "evidence", evidence);
	put_since(row, culprit);
	culprit_tail_json(row, culprit, world, steps);
}

// How many culprits each finding has, or why it could not be looked for.
static void put_findings(json_t *to, const struct culprits *culprits)
{
	json_t *object = object_in(to, "findings");
	for (int finding = 0; finding < CULPRIT_FINDING_COUNT; finding++) {
		uint32_t count = 0;
		for (uint32_t i = 0; i < culprits->count; i++)
			count += culprits->list[i].finding == (enum culprit_finding)finding;
		if (culprits->reason[finding] != NULL)
			put_reason(object, findings[finding], culprits->reason[finding]);
		else
			put_count(object, findings[finding], count);
	}
}

// How many steps there are, and from how long on one is among the worst.
static void put_worst_steps(json_t *to, const struct worst_steps *steps)
{
	static const char *const keys[] = {"steps", "steps_left_out", "worst_steps",
					   "worst_step_ps"};
	for (size_t i = 0; steps->reason != NULL && i < sizeof(keys) / sizeof(*keys); i++)
		put_reason(to, keys[i], steps->reason);
	if (steps->reason != NULL)
		return;
	put_count(to, keys[0], steps->count);
	put_count(to, keys[1], steps->left_out);
	put_count(to, keys[2], steps->worst);
	put_time(to, keys[3], steps->list[steps->worst - 1].took_ps);
}

static void culprits_json(json_t *root, const struct report_input *input)
{
	struct culprits culprits;
	if (input->world->links.counts == NULL) {
		put_reason(root, "culprits", NOT_WATCHED);
		return;
	}
	if (culprits_find(&culprits, input->world) < 0) {
		put_reason(root, "culprits", "no memory");
		return;
	}
	struct worst_steps steps;
	worst_steps_find(&steps, input->world);
	json_t *to = object_in(root, "culprits");
	put_count(to, "count", culprits.count);
	put_count(to, "links", culprits.links);
	put_count(to, "nics", culprits.nics);
	put_count(to, "hosts", culprits.hosts);
	put_count(to, "switches", culprits.switches);
	put_count(to, "switches_judged", culprits.switches_judged);
	put_worst_steps(to, &steps);
	json_t *array = array_in(to, "list");
	for (uint32_t i = 0; i < culprits.count; i++)
		put_culprit(array, &culprits.list[i], input->world, &steps);
	put_findings(to, &culprits);
	slowest_json(to, input->world, &steps);
	worst_steps_free(&steps);
}

static void table_row(FILE *to, const json_t *row)
{
	const char *direction = document_text(row, "way");
	bool is_link = strcmp(document_text(row, "place"), "link") == 0;
	table_say(to, row, "  look at: {name} ({finding})\n");
	if (is_link && (strcmp(direction, "up") == 0 || strcmp(direction, "down") == 0))
		table_say(to, row, "    {way} only: {evidence}\n");
	else if (document_number(row, "links_of") > 1)
		table_say(to, row, "    {links:plain} of its {links_of:plain} links: {evidence}\n");
	else
		table_say(to, row, "    {evidence}\n");
	if (*document_text(row, "tail_text") != '\0')
		table_say(to, row, "    {tail_text}\n");
	if (*document_text(row, "steps_text") != '\0')
		table_say(to, row, "    {steps_text}\n");
}

static void table_findings(FILE *to, const json_t *culprits)
{
	json_t *counts = json_object_get(culprits, "findings"), *count;
	double unjudged = document_number(culprits, "switches") -
		document_number(culprits, "switches_judged");
	const char *finding;
	json_object_foreach(counts, finding, count) if (json_is_null(count)) fprintf(
		to, "  not looked for: %s (%s)\n", finding, document_reason(counts, finding));
	if (json_is_integer(json_object_get(counts, "ecn")) && unjudged > 0) {
		fprintf(to, "  %.0f of ", unjudged);
		table_say(
			to, culprits,
			"{switches:plain} switches cannot be judged by their marks at this load\n");
	}
}

static void culprits_table(FILE *to, const json_t *result, bool is_short)
{
	const json_t *culprits = json_object_get(result, "culprits"), *row;
	size_t i;
	if (!json_is_object(culprits))
		return;
	if (!is_short)
		links_table(to, result);
	fprintf(to, "\nCulprits\n");
	json_array_foreach(json_object_get(culprits, "list"), i, row) table_row(to, row);
	if (document_number(culprits, "count") == 0)
		table_say(to, culprits, "  no culprit among {links} links\n");
	json_array_foreach(json_object_get(culprits, "slowest"), i, row)
		table_say(to, row,
			  "  slowest {what}: {name} has {count:plain} of {of:plain}, of all "
			  "{all_share}\n");
	table_findings(to, culprits);
}

static bool culprits_place(const struct report_input *input, char *ret, size_t bytes)
{
	char name[WORLD_CABLE_NAME_BYTES];
	struct culprits culprits;
	if (input->world->links.counts == NULL || culprits_find(&culprits, input->world) < 0 ||
	    culprits.count == 0)
		return false;
	culprit_name(&culprits.list[0], input->world, name, sizeof(name));
	snprintf(ret, bytes, "%s (%s)", name, findings[culprits.list[0].finding]);
	return true;
}

const struct report_section diagnose_section = {culprits_json, culprits_table, culprits_place};
