// SPDX-License-Identifier: Apache-2.0
// The rows of htsim's summary as worlds that are run here: its traffic matrices, in its rules, or
// in others that are set on top.

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validate.h"

// The command lines of htsim's runs, as runs.csv has them, and the rows that they make.

#define HTSIM_SEEDS_MAX 10
#define HTSIM_SETS 12

// One row: its runs differ in matrix and seed alone.
struct htsim_row {
	char name[64];
	char reason[96]; // why it cannot be run here; empty: it can
	uint32_t runs;
	struct htsim_seed {
		char matrix[96]; // its file, in the folder with htsim's results
		uint32_t seed;
	} seeds[HTSIM_SEEDS_MAX];
	char sets[HTSIM_SETS][48]; // "key=value", as many as are not empty
	const char *cc, *faults;   // sections of a scenario
};

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
				snprintf(reason, 96, "%s %.40s is not a number", name, values[at]);
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
		snprintf(reason, 96, "weft does not have htsim's congestion control %.40s",
			 command->cc);
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

// Reads `command` into the row, as its run number `runs`. What weft does not know is its reason.
static void htsim_command_read(struct htsim_row *row, const char *text)
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

#define ROWS_MAX 256
#define FILE_BYTES_MAX ((size_t)16 << 20)
#define NODES 128
#define SEED_STEP 10 // between runs of one matrix

static const char world[] =
	"name: htsim\n"
	"fabric: {topology: fat-tree, nics: 128, tor_nics: 4, pod_tors: 4, pod_aggs: 4, cores: 16, "
	"nic_delay: 1us, trunk_delay: 1us, switch_delay: 0ns}\n"
	"queue: {ecn_last_hop: true, trim_bytes: 64B, trim_choice: coin, counts: line, "
	"slow: scaled}\n"
	"transport: {payload: 4086B, header: 64B, control: 64B, evs: 128, sack_rule: htsim, "
	"completion: sack, hole_age: off, rtt: once}\n"
	"traffic: {kind: matrix, matrix: as-given}\n";

static struct htsim_row rows[ROWS_MAX];
static uint32_t row_count;

uint32_t htsim_rows(void)
{
	return row_count;
}

const char *htsim_row_name(uint32_t row)
{
	return rows[row].name;
}

const char *htsim_row_reason(uint32_t row)
{
	return rows[row].reason[0] != '\0' ? rows[row].reason : NULL;
}

uint32_t htsim_row_seeds(const struct choice *choice, uint32_t row)
{
	return rows[row].runs < choice->matrices ? rows[row].runs : choice->matrices;
}

// ---------------------------------------------------------------- what the folder has

// The row of that name, a new one if need be; NULL: there are too many.
static struct htsim_row *row_named(const char *name)
{
	for (uint32_t i = 0; i < row_count; i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	if (row_count == ROWS_MAX)
		return NULL;
	struct htsim_row *row = &rows[row_count++];
	*row = (struct htsim_row){0};
	snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

// Cuts a line into its cells; returns how many, up to `max`.
static uint32_t cut(char *line, char **ret, uint32_t max)
{
	uint32_t count = 0;
	line[strcspn(line, "\r")] = '\0';
	for (char *cell; count < max && (cell = strsep(&line, ",")) != NULL;)
		ret[count++] = cell;
	return count;
}

static uint32_t column_of(char **cells, uint32_t count, const char *name)
{
	uint32_t at = 0;
	while (at < count && strcmp(cells[at], name) != 0)
		at++;
	return at;
}

#define CELLS_MAX 64

static int read_runs(char *text, struct refusal *refusal)
{
	char *cells[CELLS_MAX], *line = strsep(&text, "\n");
	uint32_t columns = cut(line, cells, CELLS_MAX), name = column_of(cells, columns, "row"),
		 command = column_of(cells, columns, "command");
	if (name == columns || command == columns)
		return refuse(refusal, -EINVAL, "there is no column `row` or `command`");
	for (int64_t number = 2; (line = strsep(&text, "\n")) != NULL; number++) {
		if (line[strspn(line, " \r")] == '\0')
			continue;
		uint32_t count = cut(line, cells, CELLS_MAX);
		if (count <= name || count <= command)
			return refuse(refusal, -EINVAL, "line % has no row and command", number);
		struct htsim_row *row = row_named(cells[name]);
		if (row == NULL)
			return refuse(refusal, -EINVAL, "there are more than % rows", ROWS_MAX);
		if (row->runs < HTSIM_SEEDS_MAX)
			htsim_command_read(row, cells[command]);
	}
	return 0;
}

// A matrix of other hosts than the topology has.
static void check_nodes(const struct choice *choice, struct htsim_row *row)
{
	char path[1024], *text;
	size_t bytes;
	unsigned nodes;
	struct refusal none = {0};
	snprintf(path, sizeof(path), "%s/%s", choice->data, row->seeds[0].matrix);
	if (row->reason[0] != '\0' || file_read(path, FILE_BYTES_MAX, &text, &bytes, &none) < 0)
		return; // what is not there is refused when it is run
	if (sscanf(text, "Nodes %u", &nodes) == 1 && nodes != NODES)
		snprintf(row->reason, sizeof(row->reason),
			 "its matrix is of %u hosts, its topology of %u", nodes, NODES);
	free(text);
}

// Rows of the summary without any run.
static int add_unknown(const char *summary)
{
	for (const char *line = strchr(summary, '\n'); line != NULL; line = strchr(line, '\n')) {
		char name[64];
		size_t bytes = strcspn(++line, ",\r\n");
		if (bytes == 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)bytes, line);
		struct htsim_row *row = row_named(name);
		if (row == NULL)
			return -EINVAL;
		if (row->runs == 0)
			snprintf(row->reason, sizeof(row->reason), "runs.csv has no command of it");
	}
	return 0;
}

int htsim_rows_read(const struct choice *choice, const char *summary, struct refusal *refusal)
{
	char path[1024], *text;
	size_t bytes;
	snprintf(path, sizeof(path), "%s/runs.csv", choice->data);
	row_count = 0;
	int rc = file_read(path, FILE_BYTES_MAX, &text, &bytes, refusal);
	if (rc < 0)
		return rc;
	rc = read_runs(text, refusal);
	if (rc < 0)
		refusal_name(refusal, path);
	free(text);
	if (rc == 0 && add_unknown(summary) < 0)
		rc = refuse(refusal, -EINVAL, "there are more than % rows", ROWS_MAX);
	for (uint32_t i = 0; rc == 0 && i < row_count; i++)
		check_nodes(choice, &rows[i]);
	return rc;
}

// ---------------------------------------------------------------- runs

static ps_t quantile(const ps_t *sorted, uint32_t count, uint32_t percent)
{
	return sorted[(count * percent + 99) / 100 - 1]; // nearest rank, as the summary has it
}

void htsim_figures_of(const struct single_run *single, const ps_t *times, double *ret)
{
	uint32_t flows = single->world_instance.world.flow_count;
	const struct transport_counters *transport = &single->outcome->transport;
	ret[HTSIM_P50] = (double)quantile(times, flows, 50) / 1e6;
	ret[HTSIM_P99] = (double)quantile(times, flows, 99) / 1e6;
	ret[HTSIM_MAX] = (double)times[flows - 1] / 1e6;
	ret[HTSIM_RTX] = 0;
	for (int reason = 0; reason < RTX_REASON_COUNT; reason++)
		ret[HTSIM_RTX] += (double)transport->rtx[reason];
	ret[HTSIM_ACKS] = (double)transport->sacks_received;
}

static int run_once(const struct htsim_world *of, const char *matrix, uint32_t seed,
		    double ret[HTSIM_FIGURES], struct refusal *refusal)
{
	const struct htsim_row *row = &rows[of->row];
	static struct single_run single;
	char own[48], text[2048];
	const char *sets[HTSIM_SETS + 1 + HTSIM_RULES_MAX + 1];
	uint32_t count = 0;
	for (; count < HTSIM_SETS && row->sets[count][0] != '\0'; count++)
		sets[count] = row->sets[count];
	snprintf(own, sizeof(own), "seed=%u", seed);
	sets[count++] = own;
	for (uint32_t i = 0; i < HTSIM_RULES_MAX && of->rules[i] != NULL; i++)
		sets[count++] = of->rules[i];
	sets[count] = NULL;
	snprintf(text, sizeof(text), "%s%s%s", world, of->cc != NULL ? of->cc : row->cc,
		 row->faults);
	int rc = single_run_whole(&single, text, sets, matrix, refusal);
	if (rc < 0)
		return rc;
	ps_t *times = calloc(single.world_instance.world.flow_count, sizeof(*times));
	if (times == NULL) {
		rc = refuse(refusal, -ENOMEM, "no memory for the times of flows");
	} else {
		single_run_flow_times(&single, times);
		htsim_figures_of(&single, times, ret);
	}
	free(times);
	single_run_end(&single);
	return rc;
}

// Gives each message of a matrix another size. `ret` has room for a matrix.
static void resize(const char *matrix, uint32_t message_bytes, char *ret)
{
	static const char word[] = "size ";
	for (const char *at; (at = strstr(matrix, word)) != NULL;) {
		at += sizeof(word) - 1;
		memcpy(ret, matrix, (size_t)(at - matrix));
		ret += at - matrix;
		ret += sprintf(ret, "%u", message_bytes);
		matrix = at + strspn(at, "0123456789");
	}
	strcpy(ret, matrix);
}

// The matrix of a seed; the caller frees it.
static int read_matrix(const struct choice *choice, const struct htsim_world *of, const char *file,
		       char **ret, struct refusal *refusal)
{
	char path[1024];
	size_t bytes;
	snprintf(path, sizeof(path), "%s/%s", choice->data, file);
	int rc = file_read(path, FILE_BYTES_MAX, ret, &bytes, refusal);
	if (rc < 0 || of->message_bytes == 0)
		return rc;
	char *text = malloc(2 * bytes + 1); // a flow takes more than the ten digits of a size
	if (text != NULL)
		resize(*ret, of->message_bytes, text);
	free(*ret);
	*ret = text;
	return text != NULL ? 0 : refuse(refusal, -ENOMEM, "no memory for a matrix");
}

int htsim_row_run(const struct choice *choice, const struct htsim_world *of,
		  double (*ret)[HTSIM_FIGURES], struct refusal *refusal)
{
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < htsim_row_seeds(choice, of->row); i++) {
		const struct htsim_seed *seed = &rows[of->row].seeds[i];
		char *matrix;
		rc = read_matrix(choice, of, seed->matrix, &matrix, refusal);
		if (rc < 0)
			return rc;
		for (uint32_t run = 0; rc == 0 && run < choice->per_matrix; run++)
			rc = run_once(of, matrix, seed->seed + run * SEED_STEP, *ret++, refusal);
		free(matrix);
	}
	return rc;
}
