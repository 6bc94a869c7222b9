// SPDX-License-Identifier: Apache-2.0
// Bytes from all ranks to the first, at the end of a run, in the slabs that packets had.

#include <string.h>

#include "backoff.h"
#include "border_slab.h"

void border_write(void *context, void *from, size_t bytes)
{
	struct border *border = context;
	struct peer *peer = &border->peers[0];
	for (size_t done = 0, more; done < bytes; done += more) {
		if (border->stream_at == sizeof(struct slab)) {
			border_send_slab(border, 0, sizeof(struct slab));
			border->stream_at = 0;
		}
		more = sizeof(struct slab) - border->stream_at;
		more = bytes - done < more ? bytes - done : more;
		memcpy((char *)peer->filling + border->stream_at, (char *)from + done, more);
		border->stream_at += more;
	}
}

void border_written(struct border *border)
{
	struct peer *peer = &border->peers[0];
	border_send_slab(border, 0, border->stream_at);
	border->stream_at = 0;
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
		border_free_slot(border, 0, slot);
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
		peer->out[slot]->count = 0; // a run may go on
}

void border_read_from(struct border *border, uint32_t rank)
{
	check(border->stream_at == border->stream_end); // the one before is read to its end
	border->stream_peer = rank;
	border->stream_at = border->stream_end = 0;
}

static void read_slab(struct border *border)
{
	struct backoff backoff = {0};
	uint32_t from = border->stream_peer;
	struct slab *in = border->peers[from].in;
	border->ranks->ops->expect(border->ranks, from, in, sizeof(*in));
	while (!border->ranks->ops->has_come(border->ranks, from, &border->stream_end))
		backoff_take(&backoff, border->ranks);
	border->stream_at = 0;
}

void border_read(void *context, void *to, size_t bytes)
{
	struct border *border = context;
	for (size_t done = 0, more; done < bytes; done += more) {
		if (border->stream_at == border->stream_end)
			read_slab(border);
		more = border->stream_end - border->stream_at;
		more = bytes - done < more ? bytes - done : more;
		const struct slab *in = border->peers[border->stream_peer].in;
		memcpy((char *)to + done, (const char *)in + border->stream_at, more);
		border->stream_at += more;
	}
}
