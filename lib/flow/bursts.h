// SPDX-License-Identifier: Apache-2.0
// Private to the room: traffic to each destination by time.
#pragma once

#include "sequence.h"

// The stream is new: whom it goes to, and from whom.
void bursts_meet(struct flow *flow, const struct flow_stream *stream);

// The next packet of a stream; `is_data`: its sender counts as one of those who meet.
void bursts_take(struct flow *flow, const struct flow_stream *stream,
		 const struct flow_packet *packet, bool is_data);

// Nothing more comes: what is open is counted.
void bursts_end(struct flow *flow);
