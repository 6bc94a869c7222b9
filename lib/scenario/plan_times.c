// SPDX-License-Identifier: Apache-2.0
// The list times.measured: each part once, and all that the model has layers of.

#include "plan_times.h"

#define KEY "times.measured"

const char *const plan_time_words[] = {"embedding", "layer", "expert_layer", "output", NULL};

// Whether a model has layers of that kind; all have something before and behind them.
static bool has_part(const struct architecture *of, enum timed_part part)
{
	if (part != TIMED_LAYER && part != TIMED_EXPERT_LAYER)
		return true;
	for (uint32_t layer = 0; layer < of->layers; layer++)
		if (layer_is_moe(of, layer) == (part == TIMED_EXPERT_LAYER))
			return true;
	return false;
}

static int read_time(struct reader *reader, yaml_document_t *document, const yaml_node_t *node,
		     uint32_t index)
{
	struct plan_file *file = reader->base;
	struct plan_file_time time = {0};
	(void)index;
	int rc = document_read_element(reader, document, node, KEY "[]", &time);
	if (rc != 0)
		return rc;
	const char *part = timed_part_name((enum timed_part)time.part);
	struct timed *to = &file->plan.timing.parts[time.part];
	if (to->forward_ps > 0)
		return reader_refuse(reader, reader_mark(reader, KEY "[].part"),
				     KEY "[].part: %s is here twice", part);
	if (!has_part(&file->architecture, (enum timed_part)time.part))
		return reader_refuse(reader, reader_mark(reader, KEY "[].part"),
				     KEY "[].part: the model has no %s", part);
	*to = (struct timed){time.forward_ps, time.backward_ps};
	return 0;
}

int plan_times_read(struct reader *reader, yaml_document_t *document)
{
	struct plan_file *file = reader->base;
	struct timing *timing = &file->plan.timing;
	if (!reader_is_given(reader, KEY))
		return 0;
	if (reader_is_given(reader, "times.forward"))
		return reader_refuse(reader, reader->key_marks[key_find(reader->table, KEY)],
				     KEY " has no effect here; times.forward is given");
	int rc = reader_read_list(reader, document, KEY, TIMED_COUNT, read_time);
	for (uint32_t i = TIMED_LAYER; rc == 0 && i <= TIMED_EXPERT_LAYER; i++)
		if (timing->parts[i].forward_ps == 0 &&
		    has_part(&file->architecture, (enum timed_part)i))
			return reader_refuse(reader, reader_mark(reader, KEY),
					     KEY ": %s is missing; the model has such layers",
					     timed_part_name((enum timed_part)i));
	timing->has_parts = true;
	return rc;
}
