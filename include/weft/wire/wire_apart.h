// SPDX-License-Identifier: Apache-2.0
// Frames whose payload lies elsewhere: behind the headers, at payload_at, comes the rest of the
// frame at once (padding and ICRC), which goes on the wire behind the payload.
#pragma once

#include <stdint.h>

#include <weft/wire/wire.h>

// As wire_seal() for such a frame, without a UDP checksum. Returns the bytes of the rest.
uint32_t wire_seal_apart(void *frame, const struct wire_view *view, const void *payload);
