// SPDX-License-Identifier: Apache-2.0
// A buffer that the data queues of all ports of a switch share. A queue may be as long as alpha
// times what is free (dynamic threshold: A. Choudhury and E. Hahne, 1998): with n queues at their
// limit each has alpha B / (1 + n alpha), and B / (1 + n alpha) stays free for others.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/check.h>

#define ALPHA_WHOLE 1000000000u // alpha 1

struct buffer_config {
	uint64_t bytes; // 0: each port has a queue of its own
	uint64_t alpha_ppb;
};

struct shared_buffer {
	uint64_t bytes, used;
	uint64_t alpha_ppb;
};

// What one queue may hold now.
static inline uint64_t buffer_threshold(const struct shared_buffer *buffer)
{
	check(buffer->used <= buffer->bytes);
	unsigned __int128 free_bytes = buffer->bytes - buffer->used;
	return (uint64_t)(free_bytes * buffer->alpha_ppb / ALPHA_WHOLE);
}

// Whether a queue of `queued` bytes may take another packet.
static inline bool buffer_takes(const struct shared_buffer *buffer, uint64_t queued, uint32_t bytes)
{
	return queued < buffer_threshold(buffer) && buffer->used + bytes <= buffer->bytes;
}
