// SPDX-License-Identifier: Apache-2.0
// The words of weft emu: ports, dilation, lanes and what is passed on to DPDK.

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/run/options.h>

#define DILATION_MAX 1e9

static int refuse_text(struct refusal *refusal, const char *format, const char *word)
{
	snprintf(refusal->text, sizeof(refusal->text), format, word);
	return -EINVAL;
}

// A whole number of at most `max`; 0 when the word is none.
static uint32_t number_of(const char *word, uint32_t max)
{
	uint32_t value = 0;
	for (; isdigit((unsigned char)*word) && value <= max; word++)
		value = value * 10 + (uint32_t)(*word - '0');
	return *word == '\0' && value <= max ? value : 0;
}

static int read_ports(struct options *options, struct refusal *refusal)
{
	struct ports_options *choice = &options->port_choice;
	const char *word = options->ports;
	if (word == NULL) {
		choice->kind = ports_ring_max() > 0 ? PORTS_RING : PORTS_MEMORY;
	} else if (strcmp(word, "none") == 0) {
		choice->kind = PORTS_NONE;
	} else if (strcmp(word, "memory") == 0) {
		choice->kind = PORTS_MEMORY;
	} else if (strcmp(word, "ring") == 0) {
		choice->kind = PORTS_RING;
	} else {
		choice->kind = PORTS_RING;
		choice->port_count = number_of(word, 1000000);
		if (choice->port_count == 0)
			return refuse_text(refusal,
					   "--ports is none, memory, ring or a number of ring "
					   "ports, not '%.60s'",
					   word);
	}
	if (choice->kind == PORTS_RING && ports_ring_max() == 0)
		return refuse(
			refusal, -ENOTSUP,
			"this weft was built without DPDK; --ports memory carries the same frames");
	return 0;
}

static int read_dilation(struct options *options, struct refusal *refusal)
{
	const char *word = options->dilation;
	char *end;
	if (word == NULL || strcmp(word, "auto") == 0) {
		options->is_dilation_auto = true;
		return 0;
	}
	if (strcmp(word, "none") == 0)
		return 0;
	double value = isdigit((unsigned char)word[0]) ? strtod(word, &end) : -1;
	if (value < 1 || value > DILATION_MAX || *end != '\0' || strpbrk(word, "xXpP") != NULL)
		return refuse_text(
			refusal,
			"--dilation is auto, none or a number from 1 to 1000000000, not '%.60s'",
			word);
	options->dilation_milli = (uint64_t)(value * 1000 + 0.5);
	return 0;
}

static int read_lanes(struct options *options, struct refusal *refusal)
{
	if (options->has_lanes && options->port_choice.kind != PORTS_RING)
		return refuse_text(refusal, "--lanes has no effect here; it needs --ports ring%s",
				   "");
	return 0;
}

static int read_eal(struct options *options, struct refusal *refusal)
{
	struct dpdk_options *dpdk = &options->port_choice.dpdk;
	dpdk->lanes = options->lane_count;
	if (options->eal == NULL)
		return 0;
	if (options->port_choice.kind != PORTS_RING)
		return refuse_text(refusal, "--eal has no effect here: these ports need no DPDK%s",
				   "");
	int rc = dpdk_words_cut(&options->eal_words, options->eal, refusal);
	dpdk->words = options->eal_words.at;
	dpdk->word_count = options->eal_words.count;
	return rc;
}

static int read_gpu(struct options *options, struct refusal *refusal)
{
	if (options->gpu == NULL)
		return 0;
	if (options->port_choice.kind == PORTS_NONE)
		return refuse_text(refusal,
				   "--gpu needs frames that carry its data: --ports memory or "
				   "ring%s",
				   "");
	if (!options->is_dilation_auto && options->dilation_milli == 0)
		return refuse_text(refusal, "--gpu needs a clock: not --dilation none%s", "");
	if (options->lane_count > 1)
		return refuse_text(refusal, "--gpu goes with one lane%s", "");
	return 0;
}

int options_emu(struct options *options, struct refusal *refusal)
{
	int rc = read_ports(options, refusal);
	if (rc == 0)
		rc = read_dilation(options, refusal);
	if (rc == 0)
		rc = read_lanes(options, refusal);
	if (rc == 0)
		rc = read_eal(options, refusal);
	return rc == 0 ? read_gpu(options, refusal) : rc;
}
