// SPDX-License-Identifier: Apache-2.0
// A packet as a line of text: what its descriptor says, not its bytes. The columns are described in
// docs/result.md.
#pragma once

#include <stddef.h>

#include <weft/core/packet.h>
#include <weft/core/time.h>
#include <weft/wire/wire.h>
#include <weft/world/world.h>

#define TAP_FAR_WORD " end" // behind the name of a cable
#define TAP_PLACE_NAME_BYTES (WORLD_CABLE_NAME_BYTES + sizeof(TAP_FAR_WORD))
#define TAP_LOG_LINE_BYTES (384 + TAP_PLACE_NAME_BYTES) // holds every line

// The first line: the columns' names.
extern const char tap_log_head[];

// Writes the line of `packet`, whose frame is as `wire` has it, and which entered the cable `tap`
// at `at`, into TAP_LOG_LINE_BYTES; the columns of no packet (NULL) are empty. Returns its length;
// there is no NUL behind it.
size_t tap_log_line(char *ret, const struct wire_config *wire, ps_t at, const char *tap,
		    const struct packet *packet);
