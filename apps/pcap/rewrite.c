// SPDX-License-Identifier: Apache-2.0
// Blocks are gathered in a buffer, and written when it is full.

#include "rewrite.h"

#include <stdlib.h>

#include <weft/core/check.h>

#define BLOCKS_BYTES (2 * CAPTURE_BUFFER_BYTES) // a frame of any block that was read fits

bool rewrite_init(struct rewrite *rewrite)
{
	*rewrite = (struct rewrite){
		.blocks = {.at = malloc(BLOCKS_BYTES), .capacity = BLOCKS_BYTES}};
	return rewrite->blocks.at != NULL;
}

void rewrite_free(struct rewrite *rewrite)
{
	free(rewrite->blocks.at);
}

void rewrite_drain(struct rewrite *rewrite)
{
	fwrite(rewrite->blocks.at, 1, rewrite->blocks.used, rewrite->to);
	rewrite->blocks.used = 0;
}

void rewrite_begin(struct rewrite *rewrite, FILE *to, const char *program, const char *comment)
{
	rewrite->to = to;
	check(pcapng_begin(&rewrite->blocks, program, comment) == 0);
}

void rewrite_interface(struct rewrite *rewrite, const struct pcapng_interface *interface)
{
	rewrite_drain(rewrite);
	check(pcapng_interface(&rewrite->blocks, interface) == 0);
	rewrite->interfaces++;
}

void rewrite_frame(struct rewrite *rewrite, const struct capture_frame *from,
		   const struct pcapng_frame *to)
{
	rewrite->untimed += !from->has_time;
	rewrite->blocks.base_ns = (uint64_t)from->at_ns;
	if (pcapng_frame_bytes(to) > BLOCKS_BYTES - rewrite->blocks.used)
		rewrite_drain(rewrite);
	check(pcapng_frame(&rewrite->blocks, to) == 0);
}

void rewrite_statistics(struct rewrite *rewrite, const struct capture_reader *reader,
			uint32_t first, int64_t at_ns)
{
	rewrite->blocks.base_ns = (uint64_t)at_ns;
	for (uint32_t i = 0; i < rewrite->interfaces - first; i++) {
		const struct capture_interface *of = &reader->interfaces[i];
		rewrite_drain(rewrite);
		const struct pcapng_counts counts = {of->has_received ? of->received : of->frames,
						     of->dropped, of->left_out};
		if (of->has_received || of->has_dropped)
			check(pcapng_statistics(&rewrite->blocks, first + i, 0, &counts) == 0);
	}
}
