// SPDX-License-Identifier: Apache-2.0
// Private to the room: traffic to each destination by time.
#pragma once

#include "sequence.h"

// A bin that is being filled.
struct open_bin {
	int64_t begin_ns, first_ns;	     // of the bin, of its first packet
	uint64_t bytes, first, last;	     // packet numbers
	uint64_t senders[FLOW_SENDERS / 64]; // bits
};

struct target_state {
	struct open_bin open[FLOW_BINS];
	int64_t last_ns;
	uint64_t last_cables;		// bits of the planes that had a packet with this stamp
	uint64_t senders[FLOW_SENDERS]; // hashes of their addresses
};

// The stream is new: whom it goes to, and from whom.
void bursts_meet(struct flow *flow, const struct flow_stream *stream);

// The next packet of a stream; `is_data`: its sender counts as one of those who meet.
void bursts_take(struct flow *flow, const struct flow_stream *stream,
		 const struct flow_packet *packet, bool is_data);

// Nothing more comes: what is open is counted.
void bursts_end(struct flow *flow);
