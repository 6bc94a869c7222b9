// SPDX-License-Identifier: Apache-2.0
// Memory of NICs for tests, byte by byte: each message is sent from a buffer with bytes of its own
// and placed into one that lies between guards. Which bytes were written is kept.
#pragma once

#include "../rig.h"

#include <weft/core/machine.h>
#include <weft/core/rng.h>
#include <weft/transport/transport.h>

#define GUARD_BYTES 256u
#define GUARD 0xa5

// What a connection's peer may write: a message, or a ring's slices or credits.
struct guarded {
	uint64_t bytes;
	uint8_t *source;  // what is sent
	uint8_t *target;  // between two guards
	uint8_t *written; // 1: once
	bool may_repeat;  // places of a ring are used again, for the same bytes
};

#define CREDIT_BYTES 64u

struct memory {
	uint64_t seed;
	uint32_t nics, qps;	 // of each NIC at most
	struct guarded *buffers; // [nics][qps][2]: data, and where writes are told
	uint32_t qps_of_flow;	 // that share a buffer, the first one's; 0: there are no flows
	uint64_t data_bytes;	 // of a ring's region
	uint64_t credit_bytes;
	uint64_t placed;
};

static struct guarded *memory_buffer(struct memory *memory, uint32_t nic, uint32_t qp,
				     uint32_t rkey)
{
	assert_true(nic < memory->nics && qp < memory->qps);
	bool is_credit = rkey & RKEY_NOTICE;
	if (memory->qps_of_flow > 0)
		qp -= qp % memory->qps_of_flow;
	return &memory->buffers[((size_t)nic * memory->qps + qp) * 2 + is_credit];
}

static void guarded_open(struct memory *memory, struct guarded *buffer, uint64_t bytes)
{
	struct rng rng = rng_of(memory->seed, RNG_TEST, (uint64_t)(buffer - memory->buffers) + 99);
	buffer->bytes = bytes;
	buffer->source = malloc(bytes + 8);
	buffer->target = malloc(bytes + 2 * GUARD_BYTES);
	buffer->written = calloc(1, bytes);
	assert_true(buffer->source != NULL && buffer->target != NULL && buffer->written != NULL);
	memset(buffer->target, GUARD, bytes + 2 * GUARD_BYTES);
	for (uint64_t i = 0; i < bytes; i += 8) {
		uint64_t word = rng_next(&rng);
		memcpy(buffer->source + i, &word, 8);
	}
}

// Flows get their buffers from the QP numbers that a world gives them: in order, at both ends.
static void memory_init(struct memory *memory, const struct rig *rig, uint64_t seed)
{
	const struct world *world = &rig->world_instance.world;
	const struct ring_config *ring = &world->job.ring;
	uint32_t nics = world->fabric.nics, *used = calloc(nics, sizeof(uint32_t));
	*memory = (struct memory){.seed = seed, .nics = nics, .qps = 1};
	memory->data_bytes = ring->credits * ring->chunk_bytes_max;
	memory->credit_bytes = (uint64_t)ring->credits * CREDIT_BYTES;
	uint32_t qps = world->scenario->qps_per_connection;
	memory->qps = 2 * (world->flow_count + ring->channels) * qps;
	memory->qps_of_flow = world->flow_count > 0 ? qps : 0;
	memory->buffers = calloc((size_t)nics * memory->qps * 2, sizeof(struct guarded));
	assert_true(used != NULL && memory->buffers != NULL);
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		used[flow->from] += qps;
		guarded_open(memory, memory_buffer(memory, flow->to, used[flow->to], 0),
			     flow->bytes);
		used[flow->to] += qps;
	}
	free(used);
}

// A ring's buffers are opened when they are first used.
static struct guarded *memory_at(struct memory *memory, const struct dma_write *where)
{
	struct guarded *buffer = memory_buffer(memory, where->nic, where->qp, where->rkey);
	if (buffer->bytes == 0) {
		bool is_credit = where->rkey & RKEY_NOTICE;
		guarded_open(memory, buffer, is_credit ? memory->credit_bytes : memory->data_bytes);
		buffer->may_repeat = true;
	}
	if (where->va + where->bytes > buffer->bytes)
		fail_msg("%u bytes at %llu are not of a buffer of %llu", where->bytes,
			 (unsigned long long)where->va, (unsigned long long)buffer->bytes);
	return buffer;
}

static void memory_fill(void *context, const struct dma_write *where, uint8_t *ret)
{
	memcpy(ret, memory_at(context, where)->source + where->va, where->bytes);
}

static void memory_store(void *context, const struct dma_write *where, const uint8_t *payload)
{
	struct memory *memory = context;
	struct guarded *buffer = memory_at(memory, where);
	memcpy(buffer->target + GUARD_BYTES + where->va, payload, where->bytes);
	memory->placed += where->bytes;
	for (uint64_t i = where->va; i < where->va + where->bytes; i++) {
		if (buffer->written[i] && !buffer->may_repeat)
			fail_msg("byte %llu of a message was not placed exactly once",
				 (unsigned long long)i);
		buffer->written[i] = 1;
	}
}

// Every byte that was written is right, none beside was; returns how many were.
static uint64_t guarded_check(const struct guarded *buffer)
{
	uint64_t written = 0;
	for (uint64_t i = 0; i < buffer->bytes + 2 * GUARD_BYTES; i++) {
		uint64_t at = i - GUARD_BYTES;
		bool is_inside = i >= GUARD_BYTES && at < buffer->bytes;
		bool is_written = is_inside && buffer->written[at];
		if (buffer->target[i] != (is_written ? buffer->source[at] : GUARD))
			fail_msg("byte %lld of a buffer is wrong", (long long)at);
		written += is_written;
	}
	return written;
}

// All buffers; messages that completed are whole.
static void memory_check(struct memory *memory, const struct rig *rig)
{
	const struct world *world = &rig->world_instance.world;
	uint32_t *used = calloc(memory->nics, sizeof(uint32_t));
	assert_non_null(used);
	for (uint32_t i = 0; i < world->flow_count; i++) {
		const struct flow *flow = &world->flows[i];
		used[flow->from] += memory->qps_of_flow;
		uint64_t written = guarded_check(
			memory_buffer(memory, flow->to, used[flow->to], 0));
		used[flow->to] += memory->qps_of_flow;
		if (rig->outcome->flow_end_ps[i] > 0 && written != flow->bytes)
			fail_msg("message %u completed with %llu of %llu bytes", i,
				 (unsigned long long)written, (unsigned long long)flow->bytes);
	}
	free(used);
	for (size_t i = 0; i < (size_t)memory->nics * memory->qps * 2; i++)
		if (memory->buffers[i].may_repeat)
			guarded_check(&memory->buffers[i]);
}

static void memory_free(struct memory *memory)
{
	for (size_t i = 0; i < (size_t)memory->nics * memory->qps * 2; i++) {
		free(memory->buffers[i].source);
		free(memory->buffers[i].target);
		free(memory->buffers[i].written);
	}
	free(memory->buffers);
}
