// SPDX-License-Identifier: Apache-2.0
// Courses: which there are, what is refused, dispatch. See course.h.

#include <weft/workload/course.h>

#include <errno.h>

#include <weft/core/check.h>

#include "course_form.h"

#define BIT(kind) (1u << COLL_##kind)
#define REDUCING (BIT(ALL_REDUCE) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER))

static const struct {
	const struct course_form *form; // NULL: none
	uint32_t kinds;
} forms[COLL_ALGORITHM_COUNT] = {
	[COLL_RING] = {&course_ring, REDUCING},
	[COLL_TREE] = {&course_tree, BIT(ALL_REDUCE) | BIT(BROADCAST) | BIT(REDUCE)},
	[COLL_DOUBLE_TREE] = {&course_tree, BIT(ALL_REDUCE)},
	[COLL_HALVING_DOUBLING] = {&course_steps, REDUCING},
	[COLL_PAT] = {&course_steps, BIT(REDUCE_SCATTER) | BIT(ALL_GATHER)},
	[COLL_DIRECT] = {&course_direct, BIT(ALL_TO_ALL) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER)},
};

// ---------------------------------------------------------------- what forms share

void course_add(struct course *course, struct coll_part part, uint64_t times)
{
	course->messages += coll_pieces(&course->config, part.bytes) * times;
	course->bytes += part.bytes * times;
}

// More than numbers tell apart are as many as that: course_create() refuses both.
uint32_t course_capped(uint64_t pieces)
{
	return pieces < OP_NONE ? (uint32_t)pieces : OP_NONE;
}

uint32_t course_block_pieces(const struct course *course)
{
	const struct coll_config *config = &course->config;
	uint64_t most = 1;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t rank = 0; rank < config->ranks; rank++) {
			uint64_t bytes = coll_block(config, channel, rank).bytes;
			uint64_t pieces = coll_pieces(config, bytes);
			most = pieces > most ? pieces : most;
		}
	return course_capped(most);
}

// ---------------------------------------------------------------- building

static int check_form(const struct coll_config *config, struct refusal *refusal)
{
	if (forms[config->algorithm].form == NULL ||
	    !(forms[config->algorithm].kinds & 1u << config->kind))
		return refuse(refusal, -EINVAL,
			      "messages of this collective cannot be generated on demand: store "
			      "them, or choose another algorithm",
			      0, 0, 0);
	if (config->domain != 1)
		return refuse(
			refusal, -EINVAL,
			"messages are generated on demand of one rank a scale-up domain, not %: "
			"store them",
			config->domain, 0, 0);
	if (config->algorithm == COLL_DIRECT &&
	    config->bytes / config->element_bytes < (uint64_t)config->ranks * config->channels)
		return refuse(refusal, -EINVAL,
			      "% elements do not give each of % ranks one for each of % channels",
			      (int64_t)(config->bytes / config->element_bytes), config->ranks,
			      config->channels);
	return 0;
}

int course_create(struct course **ret, struct arena *arena, const struct coll_config *config,
		  struct refusal *refusal)
{
	int rc = check_form(config, refusal);
	if (rc < 0)
		return rc;
	struct course *course = arena_draw(arena, ARENA_WORKLOAD, 1, sizeof(*course));
	if (course != NULL) {
		*course = (struct course){.config = *config, .form = forms[config->algorithm].form};
		rc = course->form->create(course, arena);
	}
	if (course == NULL || rc == -ENOMEM)
		return refuse(refusal, -ENOMEM, "no memory for the course of % ranks",
			      config->ranks);
	if (course->numbers >= OP_NONE)
		return refuse(refusal, -EINVAL,
			      "messages need % numbers or more, too many to tell them apart: take "
			      "larger chunks or fewer channels",
			      (int64_t)course->numbers);
	*ret = course;
	return 0;
}

// ---------------------------------------------------------------- questions

const struct coll_config *course_config(const struct course *course)
{
	return &course->config;
}

uint64_t course_messages(const struct course *course)
{
	return course->messages;
}

uint64_t course_bytes(const struct course *course)
{
	return course->bytes;
}

uint64_t course_ready_max(const struct course *course)
{
	return course->ready_max;
}

struct course_message course_message(const struct course *course, uint32_t from, uint32_t to,
				     uint32_t number)
{
	check(number < course->numbers);
	return course->form->message(course, from, to, number);
}

bool course_has_peers(const struct course *course)
{
	return course->form->peers != NULL;
}

uint32_t course_peers(const struct course *course, uint32_t rank, uint32_t *ret)
{
	return course->form->peers(course, rank, ret);
}

// ---------------------------------------------------------------- events

void course_begin(struct course *course, uint32_t rank, course_send_fn *send, void *context)
{
	const struct course_listener to = {send, context};
	course->form->begin(course, rank, &to);
}

void course_arrived(struct course *course, uint32_t rank, uint32_t from, uint32_t number,
		    uint32_t bytes, course_send_fn *send, void *context)
{
	const struct course_listener to = {send, context};
	struct course_message message = course_message(course, from, rank, number);
	check(message.to == rank && message.bytes == bytes && "what arrives is what was to come");
	if (course->form->arrived != NULL)
		course->form->arrived(course, rank, number, &to);
}

void course_sent(struct course *course, uint32_t rank, uint32_t to, uint32_t number,
		 course_send_fn *send, void *context)
{
	const struct course_listener listener = {send, context};
	if (course->form == &course_direct)
		course_direct_sent(course, rank, to, number, &listener);
}
