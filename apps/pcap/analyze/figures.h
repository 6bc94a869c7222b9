// SPDX-License-Identifier: Apache-2.0
// The report as JSON: all of it, and the figures of it that bounds are held against.
#pragma once

#include <jansson.h>

#include "analyze/story.h"

// The whole; the caller frees it.
json_t *json_make(const struct call *call);

// Shares, counts and times of the whole capture. Null beside a reason is what cannot be said.
json_t *figures_make(const struct call *call, const struct story *story);

// A row for each DSCP that packets with a BTH have.
json_t *figures_dscp(const struct call *call);

// A row for each priority that packets with a BTH have, or that was paused: of their VLAN tag, else
// the upper 3 bits of their DSCP.
json_t *figures_priorities(const struct call *call);

// A row for each way of a QP that has data, with the answers that came back to it (null: none did).
json_t *figures_connections(const struct call *call);

// Rows that say nothing, for the names of their fields.
json_t *json_stream_blank(const struct call *call);
json_t *json_repair_blank(const struct call *call);
json_t *figures_connection_blank(const struct call *call);
json_t *figures_dscp_blank(const struct call *call);
json_t *figures_priority_blank(const struct call *call);
