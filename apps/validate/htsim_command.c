// SPDX-License-Identifier: Apache-2.0
// See htsim_command.h.

#include "htsim_command.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 64
#define PACKET_BYTES 4150 // on the wire, as htsim has them
#define HEADER_BYTES 64
#define LINKS 6	    // of the longest path
#define LINK_US 1.0 // each of them
#define RTO_US 15.0 // and so many full queues
#define RTO_QUEUES LINKS

static const char sender_cc[] = "cc: {algorithm: nscc, htsim: true}\n";
static const char receiver_cc[] = "cc: {algorithm: rccc, credit_demand: told}\n";
static const char fixed_cc[] = "cc: {algorithm: fixed}\n";

// htsim's "-failed 4": the four links into aggregation switch 0, downwards, at a quarter of the
// rate, their queues and marks with them.
static const char failed[] =
	"faults:\n"
	"  - {kind: slow, at: {t1: 0, up: 0, plane: 0}, way: down, rate: 25%}\n"
	"  - {kind: slow, at: {t1: 0, up: 1, plane: 0}, way: down, rate: 25%}\n"
	"  - {kind: slow, at: {t1: 0, up: 2, plane: 0}, way: down, rate: 25%}\n"
	"  - {kind: slow, at: {t1: 0, up: 3, plane: 0}, way: down, rate: 25%}\n";

// What a command line says.
struct command {
	const char *matrix, *topology, *balancing, *strategy, *cc;
	double rate_mbps, paths, sack_bytes, failed, seed, target_us, ecn_low, ecn_high;
	bool is_receiver;
};

static const struct word {
	const char *name;
	uint32_t values;
	size_t text, number; // where in struct command the first goes; 0: nowhere
} words[] = {
#define TEXT(member) offsetof(struct command, member) + 1, 0
#define NUMBER(member) 0, offsetof(struct command, member) + 1
	{"-tm", 1, TEXT(matrix)},
	{"-topo", 1, TEXT(topology)},
	{"-load_balancing_algo", 1, TEXT(balancing)},
	{"-strat", 1, TEXT(strategy)},
	{"-sender_cc_algo", 1, TEXT(cc)},
	{"-linkspeed", 1, NUMBER(rate_mbps)},
	{"-paths", 1, NUMBER(paths)},
	{"-sack_threshold", 1, NUMBER(sack_bytes)},
	{"-failed", 1, NUMBER(failed)},
	{"-seed", 1, NUMBER(seed)},
	{"-target_q_delay", 1, NUMBER(target_us)},
	{"-ecn", 2, NUMBER(ecn_low)}, // and ecn_high behind it
	{"-end", 1, 0, 0},
	{"-o", 1, 0, 0},
	{"-sender_cc_only", 0, 0, 0},
	{"-receiver_cc_only", 0, 0, 0},
};

// Takes a word and its values; the first reason stays.
static const struct word *take(struct command *ret, const char *name, char **values, uint32_t left,
			       char reason[96])
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word *word = &words[i];
		if (strcmp(word->name, name) != 0 || word->values > left)
			continue;
		if (word->text > 0)
			memcpy((char *)ret + word->text - 1, &values[0], sizeof(values[0]));
		for (uint32_t at = 0; word->number > 0 && at < word->values; at++) {
			char *end;
			double number = strtod(values[at], &end);
			if (*end != '\0' || !(number >= 0 && number <= UINT32_MAX))
				snprintf(reason, 96, "%s %.40s is no number", name, values[at]);
			((double *)((char *)ret + word->number - 1))[at] = number;
		}
		ret->is_receiver |= strcmp(name, "-receiver_cc_only") == 0;
		return word;
	}
	snprintf(reason, 96, "weft does not know htsim's option %.40s", name);
	return NULL;
}

static void split(struct command *ret, char *text, char reason[96])
{
	char *at[WORDS_MAX], *rest = NULL;
	uint32_t count = 0;
	for (char *word = strtok_r(text, " ", &rest); word != NULL && count < WORDS_MAX;
	     word = strtok_r(NULL, " ", &rest))
		at[count++] = word;
	for (uint32_t i = 1; i < count;) { // the first is the program
		const struct word *word = take(ret, at[i], at + i + 1, count - i - 1, reason);
		i += 1 + (word != NULL ? word->values : count);
	}
}

// The paths of weft for htsim's way to choose among them; NULL: there is none.
static const char *path_of(const struct command *command)
{
	static const char *const paths[][2] = {{"oblivious", "rotate"},
					       {"bitmap", "bitmap"},
					       {"reps", "reps"},
					       {"reps_legacy", "reps_legacy"},
					       {"mixed", "mixed"}};
	if (command->paths == 1 || command->strategy != NULL)
		return "single";
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (command->balancing == NULL || strcmp(paths[i][0], command->balancing) == 0)
			return command->balancing == NULL ? "mixed" : paths[i][1];
	return NULL;
}

// The fat tree of 128 hosts, all of whose links have the rate of the hosts.
static bool has_topology(const struct command *command)
{
	static const char name[] = "fat_tree_128_1os";
	const char *slash = command->topology == NULL ? NULL : strrchr(command->topology, '/');
	const char *file = slash == NULL ? command->topology : slash + 1;
	double gbps = 100;
	if (file == NULL || strncmp(file, name, sizeof(name) - 1) != 0)
		return false;
	file += sizeof(name) - 1;
	if (*file == '_') {
		char *end;
		gbps = strtod(file + 1, &end);
		file = *end == 'g' ? end + 1 : "?";
	}
	return strcmp(file, ".topo") == 0 && gbps * 1000 == command->rate_mbps;
}

static void find_reason(const struct command *command, char reason[96])
{
	if (reason[0] != '\0')
		return;
	if (!has_topology(command))
		snprintf(reason, 96, "its topology at its rate is not known here: %.40s",
			 command->topology == NULL ? "none" : command->topology);
	else if (command->strategy != NULL && strcmp(command->strategy, "ecmp_rr") != 0)
		snprintf(reason, 96, "switches do not spray so: -strat %.40s", command->strategy);
	else if (path_of(command) == NULL)
		snprintf(reason, 96, "there are no such paths: -load_balancing_algo %.40s",
			 command->balancing);
	else if (command->cc != NULL && strcmp(command->cc, "nscc") != 0 &&
		 strcmp(command->cc, "constant") != 0)
		snprintf(reason, 96, "weft has not htsim's congestion control %.40s", command->cc);
	else if (command->failed != 0 && command->failed != 4)
		snprintf(reason, 96, "which %.0f links failed is not known", command->failed);
	else if (command->matrix == NULL)
		snprintf(reason, 96, "its command names no matrix");
}

// htsim's least timeout: 15 us and six full queues, each a product of rate and longest round trip
// in whole packets.
static double rto_us(double rate_mbps)
{
	double packet_us = PACKET_BYTES * 8 / rate_mbps, header_us = HEADER_BYTES * 8 / rate_mbps;
	double rtt_us = LINKS * (2 * LINK_US + packet_us + header_us);
	return RTO_US + RTO_QUEUES * ceil(rtt_us / packet_us) * packet_us;
}

static void set_all(struct htsim_row *row, const struct command *command)
{
	const char *path = path_of(command);
	uint32_t at = 0;
#define SET(...) snprintf(row->sets[at++], sizeof(row->sets[0]), __VA_ARGS__)
	SET("fabric.link_rate=%.0fMb/s", command->rate_mbps);
	SET("transport.rto=%.3fus", rto_us(command->rate_mbps));
	SET("transport.path=%s", path);
	SET("transport.sack_bytes=%.0fB", command->sack_bytes > 0 ? command->sack_bytes : 16384);
	SET("fabric.spray=%s", command->strategy != NULL ? "round_robin" : "hash");
	if (strcmp(path, "single") != 0 && command->paths > 0)
		SET("transport.evs=%.0f", command->paths);
	if (command->target_us > 0)
		SET("cc.target_delay=%.3fus", command->target_us);
	if (command->ecn_high > 0) {
		SET("queue.ecn_low=%.0fB", command->ecn_low * PACKET_BYTES);
		SET("queue.ecn_high=%.0fB", command->ecn_high * PACKET_BYTES);
	}
	if (command->is_receiver)
		SET("queue.ecn_last_hop=false");
#undef SET
	bool is_fixed = command->cc != NULL && strcmp(command->cc, "constant") == 0;
	row->cc = command->is_receiver ? receiver_cc : is_fixed ? fixed_cc : sender_cc;
	row->faults = command->failed > 0 ? failed : "";
}

void htsim_command_read(struct htsim_row *row, const char *text)
{
	struct htsim_row now = {0};
	struct command command = {0};
	char copy[1024];
	snprintf(copy, sizeof(copy), "%s", text);
	split(&command, copy, now.reason);
	find_reason(&command, now.reason);
	if (now.reason[0] == '\0')
		set_all(&now, &command);
	struct htsim_seed *seed = &row->seeds[row->runs++];
	seed->seed = (uint32_t)command.seed;
	if (command.matrix != NULL)
		snprintf(seed->matrix, sizeof(seed->matrix), "%s", command.matrix);
	bool is_same = memcmp(row->sets, now.sets, sizeof(now.sets)) == 0 && row->cc == now.cc &&
		row->faults == now.faults;
	if (row->runs > 1 && row->reason[0] == '\0' && now.reason[0] == '\0' && !is_same)
		snprintf(now.reason, sizeof(now.reason),
			 "its runs differ in more than matrix and seed");
	if (row->reason[0] == '\0')
		memcpy(row->reason, now.reason, sizeof(row->reason));
	memcpy(row->sets, now.sets, sizeof(row->sets));
	row->cc = now.cc;
	row->faults = now.faults;
}
