// SPDX-License-Identifier: Apache-2.0
// The topology text that ns-3's RDMA models read (HPCC, ns-3-alibabacloud, SimAI): a line with the
// numbers of nodes, of switches and of links, a line with the numbers of the switches, then a line
// a link: both ends, rate, delay, probability of loss. SimAI's first line has three more figures
// (GPUs of a server, NVLink switches, type of GPU) and is refused by name, since links of NVLink
// and of the network are mixed there.
#include "import.h"

#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 65536

// The text, line by line, without those that are empty.
struct reader {
	struct import *import;
	struct refusal *refusal;
	const char *at, *end;
	uint32_t line;
	char text[LINE_BYTES];
};

static int next_line(struct reader *reader, const char *what)
{
	while (reader->at < reader->end) {
		size_t left = (size_t)(reader->end - reader->at);
		const char *stop = memchr(reader->at, '\n', left);
		size_t bytes = stop == NULL ? left : (size_t)(stop - reader->at);
		reader->line++;
		if (bytes >= LINE_BYTES)
			return import_refuse(reader->import, reader->refusal, reader->line,
					     "a line of %zu bytes", bytes);
		memcpy(reader->text, reader->at, bytes);
		reader->text[bytes] = '\0';
		reader->at += bytes + (stop != NULL);
		if (strspn(reader->text, " \t\r") < bytes)
			return 0;
	}
	return import_refuse(reader->import, reader->refusal, reader->line, "it ends before %s",
			     what);
}

static const struct unit {
	const char *text;
	double factor;
} rates[] = {{"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"kbps", 1e3},
	     {"bps", 1},    {"Gb/s", 1e9}, {"Mb/s", 1e6}, {NULL, 0}},
  times[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}},
  shares[] = {{"", 1}, {NULL, 0}};

// A number with one of the units, in (least, most].
static int take(struct reader *reader, const char *word, const struct unit *units, double least,
		double most, const char *what, double *ret)
{
	char *unit = NULL;
	double value = word == NULL ? 0 : strtod(word, &unit);
	while (word != NULL && unit != word && units->text != NULL &&
	       strcmp(unit, units->text) != 0)
		units++;
	*ret = word == NULL || unit == word || units->text == NULL ? -1 : value * units->factor;
	if (*ret >= least && *ret <= most)
		return 0;
	return import_refuse(reader->import, reader->refusal, reader->line, "`%s` is not a %s",
			     word == NULL ? "" : word, what);
}

static int take_node(struct reader *reader, const char *word, uint32_t *ret)
{
	double value;
	int rc = take(reader, word, shares, 0, reader->import->node_count - 1.0,
		      "node of this file", &value);
	*ret = rc == 0 ? (uint32_t)value : 0;
	return rc == 0 && *ret != value
		? import_refuse(reader->import, reader->refusal, reader->line,
				"`%s` is not a node of this file", word)
		: rc;
}

static int read_head(struct reader *reader, uint32_t *switches, uint32_t *links)
{
	unsigned long nodes = 0, others = 0, edges = 0;
	char rest = '\0';
	int rc = next_line(reader, "the numbers of nodes, switches and links");
	if (rc < 0)
		return rc;
	int count = sscanf(reader->text, "%lu %lu %lu %c", &nodes, &others, &edges, &rest);
	if (count == 4)
		return import_refuse(
			reader->import, reader->refusal, reader->line,
			"the first line has more than three figures, as SimAI's with "
			"NVLink switches; texts of nodes, switches and links are read");
	if (count != 3 || nodes > UINT32_C(1) << 20 || others > nodes || edges > UINT32_C(1) << 20)
		return import_refuse(reader->import, reader->refusal, reader->line,
				     "the first line says how many nodes, switches and links");
	*switches = (uint32_t)others;
	*links = (uint32_t)edges;
	for (unsigned long i = 0; rc == 0 && i < nodes; i++) {
		char name[IMPORT_NAME_BYTES];
		snprintf(name, sizeof(name), "n%lu", i);
		rc = import_add_node(reader->import, name, true, reader->refusal);
	}
	return rc;
}

static int read_switches(struct reader *reader, uint32_t count)
{
	char *rest = NULL, *word;
	uint32_t read = 0;
	int rc = count == 0 ? 0 : next_line(reader, "the numbers of the switches");
	if (count == 0 || rc < 0)
		return rc;
	for (word = strtok_r(reader->text, " \t\r", &rest); word != NULL;
	     word = strtok_r(NULL, " \t\r", &rest), read++) {
		uint32_t node;
		rc = take_node(reader, word, &node);
		if (rc < 0)
			return rc;
		reader->import->nodes[node].is_host = false;
	}
	return read == count
		? 0
		: import_refuse(reader->import, reader->refusal, reader->line,
				"%u switches are listed, and the first line says %u", read, count);
}

static int read_link(struct reader *reader)
{
	struct import_link link = {.line = reader->line};
	char *rest = NULL, *words[6];
	for (int i = 0; i < 6; i++)
		words[i] = strtok_r(i == 0 ? reader->text : NULL, " \t\r", &rest);
	if (words[4] == NULL || words[5] != NULL)
		return import_refuse(reader->import, reader->refusal, reader->line,
				     "a link is two nodes, rate, delay and probability of loss");
	int rc = take_node(reader, words[0], &link.a);
	if (rc == 0)
		rc = take_node(reader, words[1], &link.b);
	if (rc == 0)
		rc = take(reader, words[2], rates, 1e8, 8e12, "rate of 0.1Gbps to 8000Gbps",
			  &link.rate_bps);
	if (rc == 0)
		rc = take(reader, words[3], times, 0, 1e9, "delay, as in 0.001ms", &link.delay_ns);
	if (rc == 0)
		rc = take(reader, words[4], shares, 0, 1, "probability of loss", &link.loss);
	return rc < 0 ? rc : import_add_link(reader->import, &link, reader->refusal);
}

int import_ns3(struct import *ret, const char *text, size_t bytes, struct refusal *refusal)
{
	static struct reader reader; // large: kept off the stack
	uint32_t switches = 0, links = 0;
	reader = (struct reader){
		.import = ret, .refusal = refusal, .at = text, .end = text + bytes};
	ret->format = "a topology text of ns-3's RDMA models";
	ret->has_rates = ret->has_delays = true;
	int rc = read_head(&reader, &switches, &links);
	if (rc == 0)
		rc = read_switches(&reader, switches);
	for (uint32_t i = 0; rc == 0 && i < links; i++) {
		rc = next_line(&reader, "its last link");
		if (rc == 0)
			rc = read_link(&reader);
	}
	return rc;
}
