// SPDX-License-Identifier: Apache-2.0
// Streams of collectives: which there are, what is refused, dispatch. See coll_stream.h.

#include <weft/workload/coll_stream.h>

#include <errno.h>

#include <weft/core/check.h>

#include "coll_stream_form.h"

#define BIT(kind) (1u << COLL_##kind)
#define REDUCING (BIT(ALL_REDUCE) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER))

static const struct {
	const struct coll_stream_form *form; // NULL: none
	uint32_t kinds;
} forms[COLL_ALGORITHM_COUNT] = {
	[COLL_RING] = {&coll_stream_ring, REDUCING},
	[COLL_TREE] = {&coll_stream_tree, BIT(ALL_REDUCE) | BIT(BROADCAST) | BIT(REDUCE)},
	[COLL_DOUBLE_TREE] = {&coll_stream_tree, BIT(ALL_REDUCE)},
	[COLL_HALVING_DOUBLING] = {&coll_stream_steps, REDUCING},
	[COLL_PAT] = {&coll_stream_steps, BIT(REDUCE_SCATTER) | BIT(ALL_GATHER)},
	[COLL_DIRECT] = {&coll_stream_direct,
			 BIT(ALL_TO_ALL) | BIT(REDUCE_SCATTER) | BIT(ALL_GATHER)},
};

// ---------------------------------------------------------------- what forms share

void coll_stream_add(struct coll_stream *coll_stream, struct coll_part part, uint64_t times)
{
	coll_stream->messages += coll_pieces(&coll_stream->config, part.bytes) * times;
	coll_stream->bytes += part.bytes * times;
}

// More than numbers tell apart are as many as that: coll_stream_create() refuses both.
uint32_t coll_stream_capped(uint64_t pieces)
{
	return pieces < OP_NONE ? (uint32_t)pieces : OP_NONE;
}

uint32_t coll_stream_block_pieces(const struct coll_stream *coll_stream)
{
	const struct coll_config *config = &coll_stream->config;
	uint64_t most = 1;
	for (uint32_t channel = 0; channel < config->channels; channel++)
		for (uint32_t rank = 0; rank < config->ranks; rank++) {
			uint64_t bytes = coll_block(config, channel, rank).bytes;
			uint64_t pieces = coll_pieces(config, bytes);
			most = pieces > most ? pieces : most;
		}
	return coll_stream_capped(most);
}

// ---------------------------------------------------------------- building

static int check_form(const struct coll_config *config, struct refusal *refusal)
{
	if (forms[config->algorithm].form == NULL ||
	    !(forms[config->algorithm].kinds & 1u << config->kind))
		return refuse(refusal, -EINVAL,
			      "messages of this collective cannot be generated on demand: store "
			      "them, or choose another algorithm");
	if (config->domain != 1)
		return refuse(
			refusal, -EINVAL,
			"messages are generated on demand of one rank a scale-up domain, not %: "
			"store them",
			config->domain);
	if (config->algorithm == COLL_DIRECT &&
	    config->bytes / config->element_bytes < (uint64_t)config->ranks * config->channels)
		return refuse(refusal, -EINVAL,
			      "% elements do not give each of % ranks one for each of % channels",
			      (int64_t)(config->bytes / config->element_bytes), config->ranks,
			      config->channels);
	return 0;
}

int coll_stream_create(struct coll_stream **ret, struct arena *arena,
		       const struct coll_config *config, struct refusal *refusal)
{
	int rc = check_form(config, refusal);
	if (rc < 0)
		return rc;
	struct coll_stream *coll_stream = arena_draw(arena, ARENA_WORKLOAD, 1,
						     sizeof(*coll_stream));
	if (coll_stream != NULL) {
		*coll_stream = (struct coll_stream){.config = *config,
						    .form = forms[config->algorithm].form};
		rc = coll_stream->form->create(coll_stream, arena);
	}
	if (coll_stream == NULL || rc == -ENOMEM)
		return refuse(refusal, -ENOMEM, "no memory for the collective stream of % ranks",
			      config->ranks);
	if (coll_stream->numbers >= OP_NONE)
		return refuse(refusal, -EINVAL,
			      "messages need % numbers or more, too many to tell them apart: take "
			      "larger chunks or fewer channels",
			      (int64_t)coll_stream->numbers);
	*ret = coll_stream;
	return 0;
}

// ---------------------------------------------------------------- questions

const struct coll_config *coll_stream_config(const struct coll_stream *coll_stream)
{
	return &coll_stream->config;
}

uint64_t coll_stream_messages(const struct coll_stream *coll_stream)
{
	return coll_stream->messages;
}

uint64_t coll_stream_bytes(const struct coll_stream *coll_stream)
{
	return coll_stream->bytes;
}

uint64_t coll_stream_ready_max(const struct coll_stream *coll_stream)
{
	return coll_stream->ready_max;
}

struct coll_stream_message coll_stream_message(const struct coll_stream *coll_stream, uint32_t from,
					       uint32_t to, uint32_t number)
{
	check(number < coll_stream->numbers);
	return coll_stream->form->message(coll_stream, from, to, number);
}

bool coll_stream_has_peers(const struct coll_stream *coll_stream)
{
	return coll_stream->form->peers != NULL;
}

uint32_t coll_stream_peers(const struct coll_stream *coll_stream, uint32_t rank, uint32_t *ret)
{
	return coll_stream->form->peers(coll_stream, rank, ret);
}

// ---------------------------------------------------------------- events

void coll_stream_begin(struct coll_stream *coll_stream, uint32_t rank, coll_stream_send_fn *send,
		       void *context)
{
	const struct coll_stream_listener to = {send, context};
	coll_stream->form->begin(coll_stream, rank, &to);
}

void coll_stream_arrived(struct coll_stream *coll_stream, uint32_t rank, uint32_t from,
			 uint32_t number, uint32_t bytes, coll_stream_send_fn *send, void *context)
{
	const struct coll_stream_listener to = {send, context};
	struct coll_stream_message message = coll_stream_message(coll_stream, from, rank, number);
	check(message.to == rank && message.bytes == bytes && "what arrives is what was to come");
	if (coll_stream->form->arrived != NULL)
		coll_stream->form->arrived(coll_stream, rank, number, &to);
}

void coll_stream_sent(struct coll_stream *coll_stream, uint32_t rank, uint32_t to, uint32_t number,
		      coll_stream_send_fn *send, void *context)
{
	const struct coll_stream_listener listener = {send, context};
	if (coll_stream->form == &coll_stream_direct)
		coll_stream_direct_sent(coll_stream, rank, to, number, &listener);
}
