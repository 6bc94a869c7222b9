// SPDX-License-Identifier: Apache-2.0
// What a QP may have in place of what all of its endpoint have: profiles of entropy values and of
// congestion control, each made once and named by a number. MRC's QPs name both when they enter
// INIT. See weft/transport/transport_profiles.h.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/arena.h>
#include <weft/core/refusal.h>
#include <weft/transport/qp.h>

#include "path.h"

struct endpoint;
struct qp;
struct qp_record;

struct ev_choice {
	struct path_shape shape;
	struct profile profile;
	void *memory;	// of the profile's tables
	uint32_t users; // QPs that have it
	bool is_made;
};

struct cc_choice {
	const struct cc_config *config;
	const struct cc_ops *ops;
	struct cc_ops shared; // what QPs have in its place that share their window
	struct cc_config own; // a copy: `config` of all but number 0
	uint32_t users;
	bool is_made;
	bool is_gate_full; // a packet leaves only if a full one fits the window
};

struct choices {
	struct ev_choice *ev; // [ev_profiles_max], numbers from 1 on
	struct cc_choice *cc; // [cc_profiles_max + 1]: 0 is what the configuration says
};

// Bytes that choose_init() draws.
uint64_t choose_bytes(const struct transport_config *config);

// Draws the tables; none but number 0 is made. -ENOMEM.
int choose_init(struct endpoint *endpoint, struct arena *arena,
		const struct transport_config *config);

// Whether a transport can run this congestion control. -EINVAL with the reason.
int choose_refuse_cc(const struct cc_config *cc, bool is_rc, bool is_pooled,
		     struct refusal *refusal);

// A QP has its profiles from now on, or has none any more.
void choose_take(struct endpoint *endpoint, const struct qp_record *record);
void choose_leave(struct endpoint *endpoint, const struct qp_record *record);

// The shape of the paths of EV profile `number`.
const struct path_shape *choose_shape(const struct endpoint *endpoint, uint32_t number);

// Which own ports are down now, for all shapes.
void choose_ports(struct endpoint *endpoint, uint32_t ports_down);
