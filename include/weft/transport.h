// SPDX-License-Identifier: Apache-2.0
// The MRC endpoint of one NIC: RDMA WRITE and WRITE_WITH_IMM sprayed over entropy values and
// planes, placed in any order, acknowledged by SACK, repaired by selective repeat, completed in
// posting order. Sources: docs/protocol.md.
//
// Sans-IO: packets and times in, packets, completions and place orders out. One direction per file:
//   requester.c  what to send next          responder.c  what arrived, what is owed
//   retransmit.c what is missing, timers    path.c       which entropy value, path health
//   sack.c       what was acknowledged       region.c     which memory may be written
//   qp.c         one connection's state     endpoint.c   dispatch only
//   rc.c, rc_send.c, rc_receive.c           RoCEv2 RC behind the same calls, to compare with
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/arena.h>
#include <weft/cc.h>
#include <weft/machine.h>
#include <weft/measure.h>
#include <weft/packet.h>
#include <weft/refusal.h>
#include <weft/rng.h>
#include <weft/time.h>

enum transport_kind {
	TRANSPORT_MRC,
	TRANSPORT_RC, // RoCEv2 RC, the baseline: go-back-N, one path per QP; see docs/protocol.md
};

enum path_policy {
	PATH_ROTATE, // oblivious: a random permutation of the EVs per round (htsim's "oblivious")
	PATH_MRC,    // the same rotation, but EVs in SKIP or ASSUMED_BAD are passed over
	PATH_SINGLE, // one EV per QP: per-flow ECMP
};

enum sack_rule {
	SACK_MRC,   // at sack_bytes, on AR, CE, retransmission, duplicate
	SACK_HTSIM, // the same, and on the first packet of a QP
};

// What the responder does with a PSN above its window.
enum out_of_window { OUT_OF_WINDOW_NACK, OUT_OF_WINDOW_SILENT };

// Values of 16 bits stay in the range of ephemeral ports, where no service listens: so many at
// most.
#define EVS_OF_PORT_MAX 16384u

struct transport_config {
	enum transport_kind kind;
	uint32_t planes;	// NIC ports, 1..PLANES_MAX
	uint32_t payload_bytes; // path MTU: payload of a full packet
	uint32_t header_bytes;	// all of a data packet that is not payload, line overhead included
	uint32_t control_bytes; // SACK, NACK on the line, overhead included
	uint32_t ev_count;	// entropy values of a QP; per plane a power of two
	uint32_t ev_bits;	// of an entropy value on a packet: 32, or the 16 of a UDP port
	enum path_policy path_policy;
	uint32_t mpr;	      // PSNs in flight at most, a power of two, 64..32768
	uint32_t sends_max;   // work requests a QP holds at most
	uint32_t wimm_max;    // WRITE_WITH_IMM in flight at most, 32 and up
	uint32_t regions_max; // memory regions of an endpoint at most, 0..65536
	enum sack_rule sack_rule;
	uint32_t sack_bytes; // received bytes that cause a SACK
	bool trim_nack;	     // answer trims with NACKs
	enum out_of_window out_of_window;
	ps_t hole_age_ps;    // a hole this much older than the newest received packet is lost; 0 =
			     // only timer and NACK
	ps_t rto_ps;	     // base retransmit timeout
	uint32_t rto_linear; // tries at the base interval
	uint32_t rto_doublings; // then so many doublings; 1 to 32 tries in all, which NACKs use up,
				// too; after them the QP goes to ERROR
	ps_t path_retry_ps;	// an ASSUMED_BAD EV is tried again after this time
	struct cc_config cc;
};

// Why a packet is sent again; also the reasons of transport_counters.rtx[].
enum rtx_reason { RTX_NACK, RTX_TIMEOUT, RTX_HOLE, RTX_REASON_COUNT };

// Why a packet that reached its QP was refused: nothing was placed, no window moved.
enum refused_reason {
	REFUSED_KEY,	// data for a key that no region has
	REFUSED_BOUNDS, // data that leaves its region
	REFUSED_LENGTH, // data whose payload contradicts its opcode or the message's length
	REFUSED_IMM,	// a WRITE_WITH_IMM beyond the limit, or of a number that is taken or done
	REFUSED_OPCODE, // not an opcode of this endpoint
	REFUSED_SACK,	// tells of PSNs never sent
	REFUSED_NACK,	// of a PSN never sent, over an EV that is not the QP's, or without sense
	REFUSED_REASON_COUNT
};

// Everything an endpoint counts. All are events of the network, none is an error.
struct transport_counters {
	uint64_t data_packets;		  // sent, retransmissions included
	uint64_t data_bytes;		  // wire bytes of these
	uint64_t payload_bytes_new;	  // payload sent the first time
	uint64_t plane_bytes[PLANES_MAX]; // wire bytes of data sent per plane
	uint64_t rtx[RTX_REASON_COUNT];	  // retransmissions by reason
	uint64_t sacks_sent, sacks_received;
	uint64_t nacks_sent, nacks_received;
	uint64_t nacks_resource;       // of those received: the target had no room
	uint64_t nacks_window;	       // of those received: the PSN was outside the target's window
	uint64_t data_received;	       // whole data packets, duplicates included
	uint64_t payload_bytes_placed; // payload placed (once per PSN)
	uint64_t duplicates;	       // whole data packets that were here before
	uint64_t out_of_window;	       // PSN above the window or far below it: dropped
	uint64_t marks_received;       // data packets that came with CE
	uint64_t trims_received;       // trimmed headers
	uint64_t trims_last_hop;       // of these, trimmed at the last hop
	uint64_t messages_sent, messages_received; // completed
	uint64_t paths_skipped, paths_retired;	   // EV state changes to SKIP, to ASSUMED_BAD
	uint64_t qps_failed;			   // QPs that went to ERROR
	uint64_t qps_failed_remote;		   // of these, because their target said so
	uint64_t stamps_stale;	// echoed time stamps too old to tell the sendings of a packet apart
	uint64_t window_stalls; // the line was free, data waited for the window
	uint64_t no_qp;		// packets for a QP that is not there or is in ERROR: dropped
	uint64_t cnps_sent, cnps_received; // RC: congestion notifications
	uint64_t answers_dropped; // SACKs and NACKs for which a plane's control queue had no room
	uint64_t refused[REFUSED_REASON_COUNT]; // dropped; data are in data_received, too
};

enum completion_kind {
	COMPLETION_SENT,     // a work request is acknowledged
	COMPLETION_RECEIVED, // a WRITE_WITH_IMM is here whole, in posting order
	COMPLETION_FLUSHED,  // a work request ended with its QP in ERROR
};

// Why a QP went to ERROR.
enum qp_failure {
	QP_FAILURE_NONE,
	QP_FAILURE_RETRIES, // a packet used up its tries
	QP_FAILURE_REMOTE,  // the target met an error that ends the QP (NACK UNEXP_EVENT)
};

struct completion {
	enum completion_kind kind;
	uint32_t qp;
	uint64_t cookie; // SENT, FLUSHED: of the work request
	union {
		uint32_t imm;		 // RECEIVED
		enum qp_failure failure; // FLUSHED
	};
	uint32_t bytes; // of the message
	ps_t posted_at; // SENT, FLUSHED: when it was posted
};

// SACKs and NACKs that may wait for one plane of a NIC. Headers of trimmed packets come in faster
// than NACKs, which are longer, can leave: without a bound an incast would fill all memory.
#define ENDPOINT_CONTROL_MAX 1024u

#define RKEY_NOTICE 0x80000000u // regions whose writes are told to the host

// One RDMA write to be posted.
struct work {
	uint64_t va; // in the target's region
	uint32_t rkey;
	uint32_t bytes; // 1 .. 2^32-1
	uint32_t imm;
	bool has_imm;	 // WRITE_WITH_IMM
	uint64_t cookie; // comes back in the completion
};

// The two ends of a connection, as a control channel would exchange them.
struct qp_config {
	uint32_t local_nic, remote_nic;
	uint32_t remote_qpn;
	uint64_t id;	    // names the QP's random stream; unique in the world, below 2^48
	uint32_t first_psn; // PSN that both directions start with; low 24 bits on packets
};

struct endpoint; // one per NIC, in the caller's arena

#ifdef __cplusplus
extern "C" {
#endif

// Draws an endpoint with room for `qp_max` QPs. `config` must outlive it. -EINVAL, -ENOMEM with
// `refusal` filled.
int endpoint_create(struct endpoint **ret, struct arena *arena,
		    const struct transport_config *config, uint32_t nic, uint32_t qp_max,
		    uint64_t seed, struct refusal *refusal);

// Bytes one more QP draws. All QPs of an endpoint are drawn by endpoint_create().
uint64_t endpoint_qp_bytes(const struct transport_config *config);

// The most that endpoint_create() draws in all, its QPs included.
uint64_t endpoint_bytes(const struct transport_config *config, uint32_t qp_max);

// Opens QP number `qpn` (0 .. qp_max-1) in RTS. Once per QP; draws no memory.
void endpoint_connect(struct endpoint *endpoint, uint32_t qpn, const struct qp_config *config,
		      ps_t now);

// Opens [va, va + bytes) to writes under `rkey`, on all QPs. Draws no memory; before traffic or in
// it. -EEXIST when the key is taken, -ENOSPC when there are regions_max already, -EINVAL when it is
// empty or passes the end of the address space.
int endpoint_register(struct endpoint *endpoint, uint32_t rkey, uint64_t va, uint64_t bytes);

// Posts a write. -ENOBUFS when the QP holds sends_max requests, -ECONNRESET when it is in ERROR.
int endpoint_post(struct endpoint *endpoint, uint32_t qpn, const struct work *work, ps_t now);

// The next packet for `plane`, whose line is free at `now`: control first, then the QPs in turn.
// PACKET_NONE = nothing to send on this plane; with out->limit set = the pool is empty. The caller
// owns the packet.
uint32_t endpoint_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out);

// False when endpoint_next() would surely give nothing on any plane. A hint that costs one load.
bool endpoint_has_work(const struct endpoint *endpoint);

// Takes a packet that arrived at `now`; it is given back to the pool or reused for the answer.
void endpoint_receive(struct endpoint *endpoint, uint32_t packet, ps_t now, struct outbox *out);

// When endpoint_on_time() wants to run next, PS_NEVER = not.
ps_t endpoint_wake_at(const struct endpoint *endpoint);

// Runs the timers due at `now`.
void endpoint_on_time(struct endpoint *endpoint, ps_t now);

// Takes up to `max` completions / place orders, oldest first. There is a place order for each new
// packet with a payload handle, and for each into a region with the notice bit (a credit write,
// that the host watches for). To be emptied after each call of
// receive and on_time.
uint32_t endpoint_poll(struct endpoint *endpoint, struct completion *ret, uint32_t max);
uint32_t endpoint_poll_places(struct endpoint *endpoint, struct place *ret, uint32_t max);

// Whether completions or place orders wait.
bool endpoint_has_events(const struct endpoint *endpoint);

// How many packets were refused, for whatever reason.
static inline uint64_t transport_refused(const struct transport_counters *counters)
{
	uint64_t total = 0;
	for (int reason = 0; reason < REFUSED_REASON_COUNT; reason++)
		total += counters->refused[reason];
	return total;
}

// What it counted so far.
const struct transport_counters *endpoint_counters(const struct endpoint *endpoint);

// Control packets it holds that have not left yet (for conservation: they are taken from the pool).
uint32_t endpoint_held(const struct endpoint *endpoint);

#ifdef __cplusplus
}
#endif
