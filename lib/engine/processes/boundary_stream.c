// SPDX-License-Identifier: Apache-2.0
// Bytes from all ranks to the first, at the end of a run, in the slabs that packets had.

#include <string.h>

#include "backoff.h"
#include "boundary_slab.h"

void boundary_write(void *context, void *from, size_t bytes)
{
	struct boundary *boundary = context;
	struct peer *peer = &boundary->peers[0];
	for (size_t done = 0, more; done < bytes; done += more) {
		if (boundary->stream_at == sizeof(struct slab)) {
			boundary_send_slab(boundary, 0, sizeof(struct slab));
			boundary->stream_at = 0;
		}
		more = sizeof(struct slab) - boundary->stream_at;
		more = bytes - done < more ? bytes - done : more;
		memcpy((char *)peer->filling + boundary->stream_at, (char *)from + done, more);
		boundary->stream_at += more;
	}
}

void boundary_written(struct boundary *boundary)
{
	struct peer *peer = &boundary->peers[0];
	boundary_send_slab(boundary, 0, boundary->stream_at);
	boundary->stream_at = 0;
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
		boundary_free_slot(boundary, 0, slot);
	for (uint32_t slot = 0; slot < RANKS_SLOTS; slot++)
		peer->out[slot]->count = 0; // a run may go on
}

void boundary_read_from(struct boundary *boundary, uint32_t rank)
{
	check(boundary->stream_at == boundary->stream_end); // the one before is read to its end
	boundary->stream_peer = rank;
	boundary->stream_at = boundary->stream_end = 0;
}

static void read_slab(struct boundary *boundary)
{
	struct backoff backoff = {0};
	uint32_t from = boundary->stream_peer;
	struct slab *in = boundary->peers[from].in;
	boundary->ranks->ops->expect(boundary->ranks, from, in, sizeof(*in));
	while (!boundary->ranks->ops->has_come(boundary->ranks, from, &boundary->stream_end))
		backoff_take(&backoff, boundary->ranks);
	boundary->stream_at = 0;
}

void boundary_read(void *context, void *to, size_t bytes)
{
	struct boundary *boundary = context;
	for (size_t done = 0, more; done < bytes; done += more) {
		if (boundary->stream_at == boundary->stream_end)
			read_slab(boundary);
		more = boundary->stream_end - boundary->stream_at;
		more = bytes - done < more ? bytes - done : more;
		const struct slab *in = boundary->peers[boundary->stream_peer].in;
		memcpy((char *)to + done, (const char *)in + boundary->stream_at, more);
		boundary->stream_at += more;
	}
}
