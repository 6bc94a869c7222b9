// SPDX-License-Identifier: Apache-2.0
// Private to the room: one value becomes another.
#pragma once

#include <weft/wire/wire_anonymize.h>

#include "dissect.h"

// Replaces the field of `kind` at `field`, in place.
void anonymize_field(struct wire_anonymizer *anonymizer, enum wire_span_kind kind, uint8_t *field);
