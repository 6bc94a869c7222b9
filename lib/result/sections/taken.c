// SPDX-License-Identifier: Apache-2.0
// The values of keys that are auto: of each the one that the world was built with, where the key
// has an effect. Those of NSCC that are no whole numbers are in mrc_ctl (cc_settings.c).
#include "sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <weft/core/check.h>
#include <weft/scenario/scenario_key.h>
#include <weft/world/world_signal.h>

#include <weft/result/put.h>

#define TAKEN_MAX 48
#define VALUE_BYTES 32
#define START_UNIT "traffic.start_unit"

struct taken {
	const struct world *world;
	uint32_t count;
	const char *keys[TAKEN_MAX];
	char values[TAKEN_MAX][VALUE_BYTES];
};

static const struct scenario_key *key_of(const char *path)
{
	const struct scenario_key *key = scenario_keys();
	while (strcmp(key->path, path) != 0)
		key++;
	return key;
}

// The place for the value of `path`, or NULL where it was given or has no effect.
static char *place(struct taken *to, const char *path, bool is_given)
{
	if (is_given || !scenario_key_holds(to->world->scenario, path))
		return NULL;
	check(to->count < TAKEN_MAX);
	to->keys[to->count] = path;
	return to->values[to->count++];
}

static void word(struct taken *to, const char *path, bool is_given, const char *value)
{
	char *ret = place(to, path, is_given);
	if (ret != NULL)
		snprintf(ret, VALUE_BYTES, "%s", value);
}

// `given` is 0 where the scenario says auto.
static void number(struct taken *to, const char *path, int64_t given, uint64_t value)
{
	static const char *const units[][2] = {
		{"time", "ps"}, {"bytes", "B"}, {"rate", "b/s"}, {"count", ""}};
	char *ret = place(to, path, given != 0);
	uint32_t unit = 0;
	while (strcmp(units[unit][0], key_of(path)->unit) != 0)
		unit++;
	if (ret != NULL)
		snprintf(ret, VALUE_BYTES, "%" PRIu64 "%s", value, units[unit][1]);
}

static void of_fabric(struct taken *to)
{
	const struct fabric_config *asked = &to->world->scenario->fabric;
	const struct topology *ran = &to->world->topology;
	number(to, "fabric.flowlet_gap", asked->flowlet_gap_ps, (uint64_t)ran->base_rtt_ps / 2);
	number(to, "fabric.trunk_rate", (int64_t)asked->trunk_rate_bps, asked->link_rate_bps);
	number(to, "queue.bytes", (int64_t)asked->queue_bytes, ran->queue_bytes);
	number(to, "queue.last_hop_bytes", (int64_t)asked->last_hop_queue_bytes,
	       ran->last_hop_queue_bytes);
	number(to, "queue.control_bytes", (int64_t)asked->control_queue_bytes,
	       ran->control_queue_bytes);
	number(to, "queue.ecn_low", (int64_t)asked->ecn_low_bytes, ran->ecn_low_bytes);
	number(to, "queue.ecn_high", (int64_t)asked->ecn_high_bytes, ran->ecn_high_bytes);
	number(to, "queue.pfc_xoff", (int64_t)asked->pfc.xoff_bytes, ran->pfc_xoff_bytes);
	number(to, "queue.pfc_xon", (int64_t)asked->pfc.xon_bytes, ran->pfc_xon_bytes);
}

static void of_transport(struct taken *to)
{
	const struct transport_config *asked = &to->world->scenario->transport;
	const struct transport_config *ran = &to->world->transport;
	const struct scenario *scenario = to->world->scenario;
	number(to, "transport.header", !scenario->has_auto_header, ran->header_bytes);
	number(to, "transport.control", !scenario->has_auto_control, ran->control_bytes);
	number(to, "transport.mpr", asked->mpr, ran->mpr);
	number(to, "transport.rto", asked->rto_ps, (uint64_t)ran->rto_ps);
	number(to, "transport.min_active", asked->ev_min_active, ev_min_active(ran));
	number(to, "transport.hole_age", asked->hole_age_ps >= 0, (uint64_t)ran->hole_age_ps);
	number(to, "transport.flowlet_gap", asked->flowlet_gap_ps, (uint64_t)ran->flowlet_gap_ps);
	word(to, "transport.plane_share", asked->plane_share != PLANE_SHARE_AUTO,
	     has_plane_shares(ran) ? "marks" : "line");
	word(to, "transport.probe_idle", asked->probe_idle != PROBE_IDLE_AUTO,
	     probes_idle(ran) ? "true" : "false");
}

// What an algorithm makes of its configuration before a packet was sent.
static void of_windows(struct taken *to)
{
	const struct cc_config *asked = &to->world->scenario->transport.cc;
	const struct cc_config *ran = &to->world->transport.cc;
	struct cc cc = {.ops = cc_find(ran->name), .credit_bytes = UINT32_MAX};
	struct cc_settings settings;
	struct cc_aims aims;
	cc.ops->init(&cc, ran, 0);
	cc.ops->aims(&cc, ran, &aims);
	number(to, "cc.window", (int64_t)asked->window_bytes, cc.window_bytes);
	if (!cc.ops->has_rate) // DCQCN has no window unless it is given
		number(to, "cc.max_window", (int64_t)asked->max_cwnd_bytes, aims.window_max);
	number(to, "cc.target_delay", asked->target_delay_ps, (uint64_t)cc_delay_aim(ran));
	number(to, "cc.base_rtt", asked->base_rtt_ps, (uint64_t)ran->base_rtt_ps);
	if (cc_settings_of(ran, &settings))
		number(to, "cc.adjust_bytes", asked->adjust_bytes, settings.adjust_bytes_threshold);
	number(to, "cc.adjust_period", asked->adjust_period_ps, (uint64_t)ran->base_rtt_ps);
}

static void of_rates(struct taken *to)
{
	const struct cc_config *asked = &to->world->scenario->transport.cc;
	const struct cc_config *ran = &to->world->transport.cc;
	struct cc_rates rates;
	cc_rates_of(ran, &rates);
	number(to, "cc.rate_ai", (int64_t)asked->rate_ai_bps, rates.ai_bps);
	number(to, "cc.rate_hai", (int64_t)asked->rate_hai_bps, rates.hai_bps);
	number(to, "cc.rate_min", (int64_t)asked->rate_min_bps, rates.min_bps);
	word(to, "cc.oversubscribed_control",
	     to->world->scenario->transport.throttle != THROTTLE_AUTO,
	     has_throttle(&to->world->transport) ? "on" : "off");
	number(to, "cc.credit_quantum", asked->credit_quantum_bytes, cc_credit_quantum(ran));
}

// Words that are auto, spec or htsim: auto is what cc.htsim says.
static void of_rules(struct taken *to)
{
	const struct scenario *scenario = to->world->scenario;
	for (const struct scenario_key *key = scenario_keys(); key->path != NULL; key++) {
		uint32_t rule;
		if (key->words == NULL || strcmp(key->words[0], "auto") != 0 ||
		    strcmp(key->words[1], "spec") != 0)
			continue;
		check(key->size == sizeof(rule));
		memcpy(&rule, (const char *)scenario + key->offset, sizeof(rule));
		word(to, key->path, rule != 0, scenario->transport.cc.is_htsim ? "htsim" : "spec");
	}
}

static void of_limits(struct taken *to)
{
	const struct scenario *asked = to->world->scenario;
	if (scenario_key_holds(asked, "traffic.signal_delay") && world_signals_total(to->world) > 0)
		number(to, "traffic.signal_delay", asked->traffic.signal_delay_ps,
		       (uint64_t)world_signal_delay(to->world));
	number(to, "limits.packets", asked->packets_max, to->world->packets.capacity);
	number(to, "limits.window", asked->window_ps, (uint64_t)to->world->window_ps);
}

static void of_traffic(struct taken *to)
{
	const struct scenario *asked = to->world->scenario;
	bool is_given = !asked->traffic.has_auto_channels;
	if (to->world->job.group_count > 0)
		number(to, "traffic.channels", is_given, to->world->job.ring.channels);
}

static void fill(struct taken *ret, const struct report_input *input)
{
	*ret = (struct taken){.world = input->world};
	if (input->world->window_ps == 0) // it was not built
		return;
	of_fabric(ret);
	of_transport(ret);
	of_windows(ret);
	of_rates(ret);
	of_rules(ret);
	of_traffic(ret);
	of_limits(ret);
}

void taken_json(json_t *root, const struct report_input *input)
{
	struct taken taken;
	fill(&taken, input);
	if (input->world->has_starts)
		number(&taken, START_UNIT, 0,
		       (uint64_t)input->world->scenario->traffic.start_unit_ps);
	json_t *array = taken.count > 0 ? array_in(root, "taken") : NULL;
	for (uint32_t i = 0; i < taken.count; i++) {
		json_t *row = row_in(array);
		put_text(row, "key", taken.keys[i]);
		put_text(row, "value", taken.values[i]);
	}
}

void taken_starts(FILE *to, const json_t *result)
{
	const json_t *row;
	struct text text;
	size_t i;
	json_array_foreach(json_object_get(result, "taken"), i,
			   row) if (strcmp(document_text(row, "key"), START_UNIT) == 0)
		fprintf(to, "  starts of the matrix: in units of %s (%s)\n",
			number_time(&text, strtoll(document_text(row, "value"), NULL, 10)),
			START_UNIT);
}

void taken_table(FILE *to, const json_t *result)
{
	const json_t *row;
	uint32_t count = 0;
	size_t i;
	json_array_foreach(json_object_get(result, "taken"), i, row)
	{
		if (strcmp(document_text(row, "key"), START_UNIT) == 0) // said above
			continue;
		fprintf(to, "%s%s=%s",
			count == 0		 ? "\nTaken where the scenario says auto\n  "
				: count % 3 == 0 ? "\n  "
						 : " ",
			document_text(row, "key"), document_text(row, "value"));
		count++;
	}
	if (count > 0)
		fputc('\n', to);
}
