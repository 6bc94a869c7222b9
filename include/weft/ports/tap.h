// SPDX-License-Identifier: Apache-2.0
// Taps: what passes chosen cables, as a pcapng capture and as a log of packets. A tap sits where a
// packet enters its cable, before the cable's faults, and stamps it with the virtual time of its
// first bit; or where it leaves it, with the time at which the cable's end takes it. Records of a
// window are put in order when it ends, so files are sorted by time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/core/packet.h>
#include <weft/ports/taps.h>

#include <weft/ports/codec.h>

// What a capture gives as the time of virtual time 0: 2026-01-01 00:00:00 UTC. Fixed, so that two
// runs of the same scenario write the same bytes.
#define TAP_BASE_NS UINT64_C(1767225600000000000)

struct tap_set;

// Opens the files of `options` and draws buffers; `codec` must outlive the set. A lane is a thread
// that takes packets. -EINVAL when nothing is tapped, -errno of a file that cannot be written; then
// nothing is left behind.
int tap_open(struct tap_set **ret, struct world *world, const struct tap_options *options,
	     const struct codec *codec, uint32_t lanes, struct refusal *refusal);

// Whether any tap listens at this place (TAP_LOCATION() of world->cables) at `at`.
bool tap_listens(const struct tap_set *set, uint32_t place, ps_t at);

// -EINVAL with a reason where a tap of the scenario listens at the far end of a cable, which a run
// in wall time does not see.
int tap_check_near(const struct world *world, struct refusal *refusal);

// `packet` passes `place` at `at`, in a call of `lane`. `frame` holds its `bytes` bytes; NULL where
// there are none: then they are built if a capture wants them. `packet` is NULL for a frame that
// cannot be read.
void tap_take(struct tap_set *set, uint32_t lane, uint32_t place, ps_t at,
	      const struct packet *packet, const void *frame, uint32_t bytes);

// All lanes have ended their window: puts its records in order and into the files' buffers, which
// are written out when they are full. Called by one thread.
void tap_window_end(struct tap_set *set);

// Ends the files at virtual time `now` and closes them; with the totals. -EIO when something could
// not be written. The set is not to be used any more.
int tap_close(struct tap_set *set, ps_t now, struct tap_counts *ret, struct refusal *refusal);
