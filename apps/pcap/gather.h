// SPDX-License-Identifier: Apache-2.0
// What the files of messages.h share: what is met in a capture, before messages are made of it.
#pragma once

#include <weft/capture/capture_reader.h>
#include <weft/wire/wire.h>

#include "messages.h"
#include "places.h"
#include "table_of.h"

struct stream_key {
	uint32_t source, target; // nodes
	uint32_t qpn, found;
};

struct stream {
	struct stream_key key;
	uint32_t place;
	uint32_t head;	 // running number behind the highest PSN
	uint32_t newest; // message + 1; 0: none
	struct answers *answers;
};

// One ACK, or SACK.
struct answer {
	uint32_t psn, place;
	int64_t at_ns;
	bool is_sack;
};

// Answers to one QP of a node from another one.
struct answers {
	struct stream_key key;
	uint32_t count, room;
	uint32_t acks; // those that are no SACKs
	struct answer *list;
};

struct gather {
	struct messages *ret;
	struct capture_reader reader;
	struct places places;
	struct wire_config wire;
	struct table_of nodes, streams, answers;
	uint32_t messages_room;
	uint32_t *olders; // [messages_room] the message of this stream before: index + 1
	bool are_packets; // each is a message of its own
	bool is_short;	  // of memory
};

// Which answers are those of which way of a QP, and which end which message. False: no memory.
bool gather_settle(struct gather *all);
