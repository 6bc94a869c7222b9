// SPDX-License-Identifier: Apache-2.0
// The rows of htsim's summary as worlds that are run here: its traffic matrices, in its rules, or
// in others that are set on top.

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "htsim_command.h"

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
		snprintf(refusal->file, sizeof(refusal->file), "%.200s", path);
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

void htsim_figures_of(const struct trial *trial, const ps_t *times, double *ret)
{
	uint32_t flows = trial->world_instance.world.flow_count;
	const struct transport_counters *transport = &trial->outcome->transport;
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
	static struct trial trial;
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
	int rc = trial_run(&trial, text, sets, matrix, refusal);
	if (rc < 0)
		return rc;
	ps_t *times = calloc(trial.world_instance.world.flow_count, sizeof(*times));
	if (times == NULL) {
		rc = refuse(refusal, -ENOMEM, "no memory for the times of flows");
	} else {
		trial_flow_times(&trial, times);
		htsim_figures_of(&trial, times, ret);
	}
	free(times);
	trial_end(&trial);
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
