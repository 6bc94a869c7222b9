// SPDX-License-Identifier: Apache-2.0
// The device and the domain of a job's file.

#include "plan_site.h"

#include <stdio.h>
#include <string.h>

#include <weft/workload/plan_memory.h>

const char *const plan_device_words[] = {"none",   "A100",    "H100",	   "H200",
					 "B200",   "GB200",   "GB300",	   "MI300X",
					 "MI355X", "TPU-v5p", "Trainium2", NULL};
static const char *const precisions[] = {"bf16", "fp8", "fp4"};

static int refuse_effect(struct reader *reader, const char *path, const char *needs)
{
	return reader_refuse(reader, reader->key_marks[key_find(reader->table, path)],
			     "%s has no effect here; it needs %s", path, needs);
}

// Whether times are the file's own.
static bool is_given(const struct reader *reader)
{
	return reader_is_given(reader, "times.forward") ||
		reader_is_given(reader, "times.measured");
}

static int check_effects(struct reader *reader, const struct plan_file *file)
{
	static const char *const paths[] = {"times.efficiency", "times.precision"};
	bool is_measured = is_given(reader);
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		if (!reader_is_given(reader, paths[i]))
			continue;
		if (file->device == 0)
			return refuse_effect(reader, paths[i], "times.device");
		if (is_measured)
			return refuse_effect(reader, paths[i],
					     "times from times.device, not given");
	}
	if (reader_is_given(reader, "times.other") && !is_measured && file->device == 0)
		return refuse_effect(reader, "times.other",
				     "times.forward, times.measured or times.device");
	return 0;
}

static void take_device(struct site *site)
{
	const struct accelerator *device = site->device;
	if (site->domain == 0)
		site->domain = device->domain;
	if (site->domain_Bps == 0)
		site->domain_Bps = device->domain_Bps;
	if (site->nic_bps == 0)
		site->nic_bps = device->nic_bps;
	if (site->memory_bytes == 0)
		site->memory_bytes = device->memory_bytes;
}

static void add_input(struct plan_file *file, const char *of, enum input_origin origin,
		      const char *text)
{
	struct plan_input *input = &file->inputs[file->plan.input_count];
	if (file->plan.input_count == PLAN_INPUTS_MAX)
		return;
	file->plan.input_count++;
	*input = (struct plan_input){.origin = origin};
	snprintf(input->of, sizeof(input->of), "%s", of);
	snprintf(input->text, sizeof(input->text), "%s", text);
}

bool plan_input_is_of(const struct plan_input *input, const char *key)
{
	char words[sizeof(input->of)], *rest;
	memcpy(words, input->of, sizeof(words));
	for (char *word = strtok_r(words, " ", &rest); word != NULL;
	     word = strtok_r(NULL, " ", &rest)) {
		size_t length = strlen(word);
		if (strncmp(key, word, length) == 0 && (key[length] == '\0' || key[length] == '.'))
			return true;
	}
	return false;
}

// Times that come from a device say so; whose guess their efficiency is, the file may say.
static void tell_origin(struct plan_file *file)
{
	const struct site *site = &file->plan.site;
	double percent = site->efficiency_ppb / 1e7;
	snprintf(file->origin, sizeof(file->origin), "roofline of %s at %.4g %% of its rates in %s",
		 site->device->name, percent, precisions[site->precision]);
	file->plan.timing.origin = file->origin;
	file->plan.timing.is_assumed = true;
	for (uint32_t i = 0; i < file->plan.input_count; i++) {
		if (!plan_input_is_of(&file->inputs[i], "times.efficiency"))
			continue;
		file->plan.timing.is_assumed = file->inputs[i].origin == INPUT_ASSUMED;
		return;
	}
	add_input(file, "times.efficiency", INPUT_ASSUMED, file->origin);
}

int plan_site_settle(struct reader *reader, struct plan_file *file)
{
	struct site *site = &file->plan.site;
	int rc = check_effects(reader, file);
	if (rc != 0)
		return rc;
	file->plan.parallel.is_recomputed = file->recompute == 1;
	site->domain_Bps = file->domain_bps / 8;
	site->is_other_given = reader_is_given(reader, "times.other");
	if (is_given(reader) || file->device == 0)
		site->efficiency_ppb = 0;
	if (file->device == 0)
		return 0;
	site->device = accelerator_at(file->device - 1);
	if (site->device->flops[site->precision] == 0)
		return reader_refuse(reader, reader_mark(reader, "times.precision"),
				     "times.precision: %s has no published rate in %s",
				     site->device->name, precisions[site->precision]);
	take_device(site);
	add_input(file, "times.device", INPUT_FACT, site->device->source);
	if (plan_has_roofline(&file->plan))
		tell_origin(file);
	return 0;
}
