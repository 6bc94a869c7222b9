// SPDX-License-Identifier: Apache-2.0
// REPS beside a twin of its own: the algorithm of the paper (EuroSys 2026: a ring of eight EVs with
// a valid bit each, a head, the number of valid ones, freezing), written a second time in the
// paper's words. Random sequences of packets, clean and marked answers, trims and timeouts lead
// both to the same EVs.

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../../lib/transport/path/balance.h"

#define BUFFER_SIZE 8u
#define EXPLORE_PACKETS 16u
#define FREEZING_TIMEOUT (10 * PS_PER_MS)
#define EVS 256u

struct element {
	uint32_t cached_ev;
	bool is_valid;
};

struct twin {
	struct element buffer[BUFFER_SIZE];
	uint32_t head, valid_count, cached_count, explore_counter;
	bool is_freezing;
	ps_t exit_freezing;
	struct rng rng;
};

static void twin_on_ack(struct twin *twin, uint32_t ev, bool is_marked, ps_t now)
{
	if (!is_marked) {
		struct element *at = &twin->buffer[twin->head];
		twin->valid_count += !at->is_valid;
		*at = (struct element){ev, true};
		twin->head = (twin->head + 1) % BUFFER_SIZE;
		twin->cached_count += twin->cached_count < BUFFER_SIZE;
	}
	if (twin->is_freezing && now >= twin->exit_freezing) {
		twin->is_freezing = false;
		twin->explore_counter = EXPLORE_PACKETS;
	}
}

static void twin_on_failure(struct twin *twin, ps_t now)
{
	if (twin->is_freezing || twin->explore_counter > 0)
		return;
	twin->is_freezing = true;
	twin->exit_freezing = now + FREEZING_TIMEOUT;
}

static uint32_t twin_next(struct twin *twin)
{
	bool explores = twin->explore_counter > 0;
	twin->explore_counter -= explores;
	if (explores || twin->cached_count == 0 || (twin->valid_count == 0 && !twin->is_freezing))
		return rng_below(&twin->rng, EVS);
	uint32_t offset = (twin->head + BUFFER_SIZE - twin->valid_count) % BUFFER_SIZE;
	if (twin->valid_count > 0)
		twin->valid_count--;
	else
		twin->head = (twin->head + 1) % BUFFER_SIZE;
	twin->buffer[offset].is_valid = false;
	return twin->buffer[offset].cached_ev;
}

struct rig {
	struct path_shape shape;
	struct path_set set;
	uint8_t *memory;
	struct twin twin;
	uint32_t frozen, explored, recycled; // packets that left so
};

static void open_rig(struct rig *rig, uint64_t seed)
{
	memset(rig, 0, sizeof(*rig));
	rig->shape = (struct path_shape){.planes = 1,
					 .per_plane = EVS,
					 .universe = EVS,
					 .index_mask = EVS - 1,
					 .drawn_mask = ~(EVS - 1),
					 .policy = PATH_REPS};
	rig->memory = calloc(1, path_bytes(&rig->shape));
	assert_non_null(rig->memory);
	path_init(&rig->set, &rig->shape, rig->memory, rng_of(seed, RNG_QP, 1));
	rig->twin.rng = rig->set.rng;
}

static void send(struct rig *rig)
{
	struct twin *twin = &rig->twin;
	rig->explored += twin->explore_counter > 0;
	rig->frozen += twin->explore_counter == 0 && twin->is_freezing && twin->valid_count == 0;
	rig->recycled += twin->explore_counter == 0 && twin->valid_count > 0;
	assert_int_equal(path_pick(&rig->set, 0, PATH_NO_EV).index, twin_next(twin));
}

static void answer(struct rig *rig, uint32_t ev, uint32_t what, ps_t now)
{
	if (what < 70) {
		balance_feed(&rig->set, ev, BALANCE_CLEAN, now);
		twin_on_ack(&rig->twin, ev, false, now);
	} else if (what < 90) {
		balance_feed(&rig->set, ev, BALANCE_MARKED, now);
		twin_on_ack(&rig->twin, ev, true, now);
	} else if (what < 97) {
		balance_feed(&rig->set, ev, BALANCE_TRIMMED,
			     now); // a NACK: neither ACK nor failure
	} else {
		balance_feed(&rig->set, ev, BALANCE_LOST, now);
		twin_on_failure(&rig->twin, now);
	}
}

// The ring is full before the first failure, as after a first window: with fewer than eight EVs the
// paper's head points to places that never held one, and ours goes round those that do.
static void the_twin_takes_the_same_evs(void **)
{
	uint32_t frozen = 0, explored = 0, recycled = 0;
	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct rng dice = rng_of(seed, RNG_TEST, 7);
		struct rig rig;
		ps_t now = 0;
		open_rig(&rig, seed);
		uint32_t burst = 1 + rng_below(&dice, 12);
		for (uint32_t i = 0; i < BUFFER_SIZE; i++)
			answer(&rig, rng_below(&dice, EVS), 0, now);
		for (uint32_t i = 0; i < 3000; i++) {
			uint32_t ev = rng_below(&dice, EVS), what = rng_below(&dice, 100);
			now += rng_below(&dice, 100) * PS_PER_US;
			answer(&rig, ev, what, now);
			for (uint32_t left = rng_below(&dice, burst); left > 0; left--)
				send(&rig);
		}
		frozen += rig.frozen;
		explored += rig.explored;
		recycled += rig.recycled;
		free(rig.memory);
	}
	assert_true(frozen > 10000 && explored > 10000 && recycled > 10000);
}
