// SPDX-License-Identifier: Apache-2.0
// See report_stall.h.

#include <weft/result/report_stall.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <weft/result/number.h>

#define DEADLOCK_NAMED 4

// Where it was lost, as far as that was measured.
static bool place(const struct report_input *input, char *ret, size_t bytes)
{
	const struct report_section *diagnosis = input->diagnosis;
	return diagnosis != NULL && diagnosis->place != NULL && diagnosis->place(input, ret, bytes);
}

// QPs that used up their tries; what they then heard from peers is no cause.
static void gave_up(const struct report_input *input, uint64_t count, char *ret, size_t bytes)
{
	const struct transport_config *transport = &input->world->transport;
	const char *what = input->world->scenario->qps_per_connection > 1 ? "QP" : "connection";
	struct text text;
	snprintf(ret, bytes, "%s %s%s gave up after %u tries", number_grouped(&text, count), what,
		 count == 1 ? "" : "s", transport->rto_linear + transport->rto_doublings);
}

// QPs that would go on trying, whatever the limit.
static void keep_trying(const struct report_input *input, uint64_t count, char *ret, size_t bytes)
{
	const struct transport_config *transport = &input->world->transport;
	const char *what = input->world->scenario->qps_per_connection > 1 ? "QP" : "connection";
	const char *plural = count == 1 ? "" : "s", *verb = count == 1 ? "hears" : "hear";
	bool is_forever = transport->rto_doublings == RTO_DOUBLINGS_FOREVER;
	struct transport_config finite = *transport;
	if (is_forever)
		finite.rto_doublings = transport->rto_linear > 0 ? 0 : 1;
	struct text text[2];
	char where[128], over[140] = "";
	if (place(input, where, sizeof(where)))
		snprintf(over, sizeof(over), " over %s", where);
	number_grouped(&text[0], count);
	number_time(&text[1], transport_tries_ps(&finite));
	if (is_forever)
		snprintf(ret, bytes,
			 "%s %s%s %s nothing%s and never give%s up; "
			 "transport.rto_doublings=%" PRIu32 " would end %s after %s",
			 text[0].at, what, plural, verb, over, count == 1 ? "s" : "",
			 finite.rto_doublings, count == 1 ? "it" : "them", text[1].at);
	else
		snprintf(ret, bytes, "%s %s%s %s nothing%s and give%s up after %s: raise %s",
			 text[0].at, what, plural, verb, over, count == 1 ? "s" : "", text[1].at,
			 input->limit_option);
}

static double done_share(const struct world *world)
{
	const struct transport_counters *transport = &world->outcome->transport;
	uint64_t payload_bytes = world->transport.payload_bytes, packets = world->plan.packets;
	for (uint32_t i = 0; i < world->flow_count; i++)
		packets += (world->flows[i].bytes + payload_bytes - 1) / payload_bytes;
	if (packets == 0 || world->program != NULL || world->coll_stream != NULL)
		return world->work_total == 0
			? 0
			: (double)world_work_done(world) / (double)world->work_total;
	double share = (double)(transport->data_received - transport->duplicates) / (double)packets;
	return share < 1 ? share : 1;
}

// Rounded down: what is not whole is not 100 %.
double report_done_percent(const struct report_input *input)
{
	return floor(100 * done_share(input->world));
}

static void deadlock(const struct report_input *input, char *ret, size_t bytes)
{
	const struct world_pauses *pauses = input->world->pauses;
	char name[WORLD_CABLE_NAME_BYTES];
	int used = snprintf(ret, bytes,
			    "DEADLOCK: %" PRIu32 " ports that PFC paused wait for each "
			    "other for good: ",
			    pauses->deadlock_count);
	for (uint32_t i = 0; i < pauses->deadlock_count && i < DEADLOCK_NAMED; i++) {
		world_cable_name(input->world, pauses->deadlock[i], name, sizeof(name));
		used += snprintf(ret + used, bytes - (size_t)used, "%s%s", i > 0 ? ", " : "", name);
	}
	snprintf(ret + used, bytes - (size_t)used, "%s; %.0f %% done",
		 pauses->deadlock_count > DEADLOCK_NAMED ? ", ..." : "",
		 report_done_percent(input));
}

void report_stall(const struct report_input *input, char *ret, size_t bytes)
{
	const struct world *world = input->world;
	const struct transport_counters *transport = &world->outcome->transport;
	uint64_t count = transport->qps_failed - transport->qps_failed_remote;
	double done = report_done_percent(input);
	if (world->pauses != NULL && world->pauses->deadlock_count > 0) {
		deadlock(input, ret, bytes);
		return;
	}
	char who[96] = "messages wait for what nobody sends", where[128] = "";
	if (count > 0)
		gave_up(input, count, who, sizeof(who));
	bool has_place = count > 0 && place(input, where, sizeof(where));
	snprintf(ret, bytes, "%s%s%s; %s%.0f %% done", who, has_place ? " over " : "",
		 has_place ? where : "",
		 transport->data_received == 0 ? "no packet has arrived anywhere; " : "", done);
}

bool report_trying(const struct report_input *input, char *ret, size_t bytes)
{
	uint64_t count = input->world->outcome->transport.qps_trying;
	char why[320];
	struct text text;
	if (count == 0 || input->limit_option == NULL ||
	    strcmp(input->limit_option, "limits.time") != 0)
		return false;
	keep_trying(input, count, why, sizeof(why));
	snprintf(ret, bytes, "limits.time (%s) was reached, %.0f %% done: %s",
		 number_time(&text, input->world->scenario->time_max_ps),
		 report_done_percent(input), why);
	return true;
}
