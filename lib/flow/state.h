// SPDX-License-Identifier: Apache-2.0
// Private to the room: what is remembered of streams and of their PSNs.
#pragma once

#include <weft/core/psn.h>
#include <weft/flow/flow.h>

enum { // flow_psn.flags
	PSN_SEEN = 1,
	PSN_MISSING = 2, // stepped over, not filled since
	PSN_BAD = 4,	 // the last copy had a bad ICRC
	PSN_BEGINS = 8,	 // first packet of a message
	PSN_ENDS = 16,	 // last one
	PSN_TRIMMED = 32,
	PSN_NACKED = 64,
	PSN_STRAY = 64, // of go-back-N: not missing but damaged, out of its order
	PSN_ACKED = 128,
	PSN_ASKS = 256,	     // asks for an ACK
	PSN_SHOWN = 512,     // stepped over when a receiver at the tap wanted it
	PSN_LATE = 2048,     // filled a hole by itself: it was overtaken
	PSN_WAS_LATE = 4096, // a copy before the last one was; no answer to that has come since
	PSN_SENDS = 8192,    // a SEND
	PSN_READS = 16384,   // a request that is answered by a response: READ, atomic
	PSN_UNREAD = 32768,  // seen, but its frame was not read
	PSN_FILLED = 1024,   // a hole that a repeat filled: counted as lost
};

// One PSN. A slot is good while `psn` is the running number that is looked for.
struct flow_psn {
	int64_t first_ns, last_ns;
	uint64_t first_number;
	uint32_t psn;
	uint32_t bytes;
	// IPv4 identifications; of MRC the MSN, and the first copy's EV, 0 once another copy has it
	uint16_t id_first, id_last;
	uint16_t flags;
	uint16_t copies; // of MRC: repeats that read as lost behind the tap, until a SACK tells
};

// A message all of whose packets are acknowledged.
struct message {
	int64_t began_ns, sacked_ns;
	uint64_t bytes;
	uint32_t psn; // running number of its last packet
};
#define MESSAGES_WAITING 8

#define STRAYS 4

struct late_nak {
	uint64_t number;      // of what was taken for its repeat, and may be a copy; 0: nothing was
	uint32_t psn, repair; // index + 1; 0: not kept
};
#define LATE_NAKS 8

// A NAK that wants the next PSN after that of the one before, so soon behind that one's repeat that
// it cannot be for it.
struct soon_nak {
	int64_t lag_ns;
	uint32_t before_repair, repair; // index + 1; 0: not kept
};
#define SOON_NAKS 4

// PSNs of one kind in one direction: a stream has its requests, and its responses to READs.
struct sequence {
	struct flow_psn *ring;
	uint32_t ring_size; // power of 2; 0: none
	bool has_begun;
	uint32_t head;		       // running number: the highest that was seen + 1
	uint32_t next;		       // that the sender sends next if it goes on
	uint32_t expected;	       // that a go-back-N receiver right at the tap would take next
	uint32_t acked;		       // acknowledged below this
	uint32_t low;		       // nothing before this is remembered
	uint32_t unfilled;	       // holes that are remembered no more
	uint32_t read_end;	       // PSNs up to here are, or may be, those of READ responses
	uint32_t read_psn, read_bytes; // of the READ that ends there
	uint32_t read_next;	       // where the last READ request ends, made again or not
	uint32_t mtu_bytes;  // of payload, at least: what the largest response had; 0: none passed
	uint32_t full_bytes; // payload of a packet that does not end a message; 0: none yet
	uint32_t first_psn, first_bytes; // of the newest RETH
	bool has_first;
	bool is_nak_ignored;  // that was reported
	bool is_read_open;    // the length of the newest READ was cut off
	int32_t open_most;    // PSNs that were ever sent and not acknowledged
	uint32_t strays;      // damaged packets whose PSN is not to be believed
	bool has_late_stray;  // the packet before this one was damaged, and taken for overtaken
	bool was_stray_asked; // and a NAK had asked for it
	uint32_t late_stray;
	uint32_t stray_psns[STRAYS]; // of the first of them: a hole there was it
	uint64_t unread;	     // frames that were not read up to its last packet
	int64_t last_ns;	     // of the last packet
	int64_t now_ns;		     // of the one that is taken
	int64_t late_ns;	     // of the last late one ahead of its turn
	int64_t nak_ns;		     // of the NAK that is not answered yet
	uint16_t nak_id;
	uint32_t acks_asked, acks_unasked; // of what passed once
	int64_t step_ns;   // one packet came no sooner behind the one before it; 0: none did
	int64_t answer_ns; // an ACK came no sooner behind its packet; 0: none came
	// Identifications.
	uint16_t id_newest;
	bool has_id;
	bool has_same_id; // of two PSNs in a row: it tells no copies
	uint32_t id_changes, id_steps, id_jumps;
	// A packet that went back and may be late, doubled, or the first of a repeat.
	bool is_pending;
	uint32_t pending_from, pending_to; // [from, to) came one after the other
	uint64_t pending_number;
	int64_t pending_ns, pending_silence_ns;
	int64_t pending_passed_ns; // when the copy before it passed
	bool pending_is_read, pending_is_again;
	uint16_t pending_wanted;	  // sequence_wanted() as it came
	struct flow_class *pending_class; // that it was counted in
	struct flow_psn pending_slot;	  // as it would be if nothing of its PSN had passed before
	// Another one behind it, which also fills a hole: both are late, unless a repeat goes on
	// from the first.
	bool has_second;
	uint32_t second_psn;
	uint64_t second_number;
	int64_t second_ns, second_silence_ns, second_passed_ns;
	// A packet that jumped ahead of a repeat: overtaken, unless the next one goes on from it.
	bool has_leap, leap_lacks;    // it was missing, or was taken for lost, before
	uint32_t leap_psn, leap_head; // and the head before it
	uint64_t leap_number;
	int64_t leap_ns;
	// The NAK that is not answered yet.
	bool has_nak, is_rnr;
	uint32_t nak_repair; // index + 1; 0: not kept
	uint32_t nak_psn;
	int64_t repeat_ns;  // no repeat came sooner behind its NAK; 0: none came
	int64_t nak_lag_ns; // no NAK came later behind the packet that shows the loss; 0: none came
	// The last NAK of what was lost behind the tap, or came late there: the next answer tells.
	bool has_behind, was_behind; // it is not reported yet; it came late, and no other NAK since
	bool is_behind_open;	     // it was one or the other: FLOW_GONE_BEHIND
	uint16_t behind_copies;	     // of its PSN that had passed
	bool behind_crossed;	     // the last of them while the NAK was under way
	uint64_t behind_doubled;     // flow_stream.doubled then
	uint64_t behind_late;	     // flow_stream.late then
	uint32_t behind_psn, behind_repair;
	int64_t behind_ns; // from the packet that it answers to it; 0: not known
	// Those that came before any answer told how soon that is.
	struct soon_nak soon_naks[SOON_NAKS];
	uint32_t soon_nak_count;
	// NAKs whose PSNs came by themselves, oldest first. The sender may repeat from there all
	// the same, in this order.
	struct late_nak late_naks[LATE_NAKS];
	uint32_t late_nak_count;
	// The timer whose cause is not known yet.
	bool has_timer;
	uint32_t timer_repair; // index + 1; 0: not kept
	uint32_t timer_head, timer_acked;
	uint32_t timer_acks; // that cover all that was repeated
	// The message being acknowledged.
	int64_t message_ns; // when its first packet passed; -1: not seen
	uint64_t message_bytes;
	// MRC: messages that wait for their ACK. None ever came: SACKs end them.
	struct message waiting[MESSAGES_WAITING];
	uint32_t waiting_count;
	bool has_message_ack, is_done_by_sack;
	uint32_t repeats_open; // MRC: sum of the slots' copies
	int64_t sacked_ns;     // MRC: of the last SACK
	int64_t last_ce_ns;
};

// What breaks a rule if the tap sees all of a stream's planes.
enum flow_waiting { FLOW_WAITING_ACK, FLOW_WAITING_SACK, FLOW_WAITING_EV, FLOW_WAITING_COUNT };

struct stream_state {
	struct sequence requests, responses;
	uint32_t hash_next, pair_next; // index + 1
	uint32_t older, newer;	       // index + 1: by last packet, about
	uint64_t linked_number;	       // of the packet that put it there
	uint32_t answers_for;	       // index + 1: the stream that its ACKs are about
	uint32_t target;	       // index + 1 of its destination; 0: no room
	bool has_transport;	       // known by a whole packet, no CNP
	uint8_t sender;		       // its bit there
	// By kind: the DSCP, and the last packet that had it.
	uint8_t dscp[FLOW_KIND_COUNT];
	uint64_t kind_number[FLOW_KIND_COUNT];
	// Of the ACKs in it: the one with the latest PSN, identifications.
	bool has_ack;
	uint16_t ack_id;
	uint32_t ack_psn, ack_msn; // running numbers
	uint32_t ack_steps, ack_jumps;
	struct {
		uint64_t count, first;
	} waiting[FLOW_WAITING_COUNT];
	uint64_t evs_known; // that SACKs reflected
};

// The stream of packets with these addresses, as they were on the wire.
struct recent_stream {
	uint8_t source[16], target[16];
	uint32_t qpn, place;
	uint32_t index;	     // + 1; 0: none
	uint32_t generation; // good while it is that of the table
	int32_t plane;
	uint8_t found;
};
#define RECENT_STREAMS_BITS 8
#define RECENT_STREAMS (1u << RECENT_STREAMS_BITS)

struct flow {
	struct flow_report report;
	struct flow_config config;
	struct stream_state *states; // beside report.streams
	uint32_t *hash, hash_mask;   // by stream: index + 1
	uint32_t *pairs;	     // by both addresses: index + 1
	uint32_t oldest, newest;     // index + 1
	struct recent_stream recent[RECENT_STREAMS];
	uint32_t generation;	      // of the table of streams: an index was given to another one
	struct target_state *targets; // beside report.targets
	uint32_t *target_slots, target_mask; // by hash: index + 1
	struct flow_psn *psns;
	uint32_t psns_used;
	struct flow_psn *free_rings[32]; // by log2 of their size
	uint64_t evs[(1u << 19) / 64];	 // of MRC that some packet had, as bits of their hash
	int64_t last_ns;
	bool has_last;
	struct flow_class classes[9][64]; // by priority of a VLAN tag, 8: none, and DSCP
	int32_t plane; // of the packet that is taken (MRC); -1: its addresses do not tell
};

// A step back to `psn`, by packet `number`.
struct repeat {
	uint64_t number;
	int64_t at_ns, silence_ns;
	uint32_t psn;
	bool is_read;	 // a READ request
	uint16_t wanted; // sequence_wanted() as it came
};

// A data packet as the sequence sees it.
struct arrival {
	const struct flow_packet *packet;
	struct flow_stream *stream;
	struct sequence *sequence;
	uint32_t psn; // running number
	struct flow_psn *slot;
	bool is_late;  // its identification says that it was overtaken
	bool is_again; // its PSN was seen before
};
