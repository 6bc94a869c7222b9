// SPDX-License-Identifier: Apache-2.0
// The MRC endpoint of one NIC: RDMA WRITE and WRITE_WITH_IMM sprayed over entropy values and
// planes, placed in any order, acknowledged by SACK, repaired by selective repeat, completed in
// posting order. Sources: docs/protocol.md.
//
// Sans-IO: packets and times in, packets, completions and place orders out. One direction per file:
//   requester.c  what to send next          responder.c  what arrived, what is owed
//   retransmit.c what is missing, timers    path.c       which entropy value, path health
//   profile.c    where their values come from probe.c     bad ones that are tried
//   sack.c       what was acknowledged       region.c     which memory may be written
//   operation.c  which requests are done     ack.c        the target's word for it
//   mpr_grant.c  the window a target offers  qp.c         one connection's state
//   endpoint.c   dispatch; packets like the one before
//   state.c      RESET, INIT, RTR, RTS, ERROR (qp.h)
//   status.c     ports that are down         peers.c      the NICs at the other ends
//   rc.c, rc_send.c, rc_receive.c           RoCEv2 RC behind the same calls, to compare with
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <weft/cc/cc.h>
#include <weft/core/arena.h>
#include <weft/core/machine.h>
#include <weft/core/packet.h>
#include <weft/core/refusal.h>
#include <weft/core/rng.h>
#include <weft/core/time.h>
#include <weft/measure/measure.h>
#include <weft/transport/ev.h>
#include <weft/transport/qp.h>
#include <weft/transport/transport_config.h>
#include <weft/transport/transport_counters.h>

enum completion_kind {
	COMPLETION_SENT,     // a work request is done, see enum transport_completion
	COMPLETION_RECEIVED, // a WRITE_WITH_IMM is here whole, in posting order
	COMPLETION_FLUSHED,  // a work request ended with its QP in ERROR
	COMPLETION_READY,    // none: a QP whose post was refused with -EAGAIN may post now
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

#define RKEY_NOTICE 0x80000000u // regions whose writes are reported to the host

// One RDMA write to be posted.
struct work {
	uint64_t va; // in the target's region
	uint32_t rkey;
	uint32_t bytes; // 1 .. 2^32-1
	uint32_t imm;
	bool has_imm;	 // WRITE_WITH_IMM
	uint64_t cookie; // comes back in the completion
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

// Opens [va, va + bytes) to writes under `rkey`, on all QPs. Draws no memory; before traffic or in
// it. -EEXIST when the key is taken, -ENOSPC when there are regions_max already, -EINVAL when it is
// empty or passes the end of the address space.
int endpoint_register(struct endpoint *endpoint, uint32_t rkey, uint64_t va, uint64_t bytes);

// Closes it again: what comes for `rkey` from now on is refused. The key and its place are free.
// -ENOENT.
int endpoint_unregister(struct endpoint *endpoint, uint32_t rkey);

// Posts a write. -ENOBUFS when the QP holds sends_max requests, -EAGAIN when it has no context and
// must wait for COMPLETION_READY, -ENOTCONN before RTS, -ECONNRESET
// in ERROR.
int endpoint_post(struct endpoint *endpoint, uint32_t qpn, const struct work *work, ps_t now);

// The next packet for `plane`, whose line is free at `now`: control first, then the QPs in turn.
// PACKET_NONE = nothing to send on this plane; with out->limit set = the pool is empty. The caller
// owns the packet.
uint32_t endpoint_next(struct endpoint *endpoint, uint32_t plane, ps_t now, struct outbox *out);

// Packets that may leave on `plane`, whose line is free at `start`, up to `last`, through `port`.
struct train {
	uint32_t plane, port;
	ps_t start, last;
	line_t line;
};

// As endpoint_next() in a loop: lets packets of data leave, as many as go without a second thought,
// and puts them in the outbox. None, while there is anything else to do. Returns when the line is
// free then: `start`, when none left.
ps_t endpoint_next_train(struct endpoint *endpoint, const struct train *train, struct outbox *out);

// As endpoint_next(), for control alone, on a plane whose data are paused.
uint32_t endpoint_next_control(struct endpoint *endpoint, uint32_t plane, ps_t now,
			       struct outbox *out);

// A port of the NIC went down, or came back. What waits for it moves to another plane, nothing more
// leaves by it, and the peers of QPs in use are informed. A QP waits when none is left whose plane
// is not denied, and ends when it has something to send and that lasts as long as all tries of a
// packet. config.port_status only.
void endpoint_port(struct endpoint *endpoint, uint32_t plane, bool is_up, ps_t now,
		   struct outbox *out);

// When the first QP may send that waits for the rate of congestion control, PS_NEVER = none waits.
// To be asked when endpoint_next() gave nothing: the line is free until then, or until a change.
ps_t endpoint_next_at(const struct endpoint *endpoint);

// Brings into the cache what endpoint_receive() and endpoint_next() will read: the endpoint, in a
// later call the contexts of the QPs that received last (data and answers), and at last what these
// point to. Each step reads what those before fetched.
enum endpoint_fetch { ENDPOINT_FETCH_SELF, ENDPOINT_FETCH_CONTEXTS, ENDPOINT_FETCH_RINGS };
void endpoint_fetch(const struct endpoint *endpoint, enum endpoint_fetch step);

// Brings all of a QP into the cache: for who will reset it. Changes nothing. `qpn` is one of the
// endpoint's.
void endpoint_fetch_qp(const struct endpoint *endpoint, uint32_t qpn);

// False when endpoint_next() would surely give nothing on any plane. A hint that costs one load.
bool endpoint_has_work(const struct endpoint *endpoint);

// Whether all that was posted has completed or was flushed. Looks at each QP: not for each turn.
bool endpoint_has_completed(const struct endpoint *endpoint);

// QPs that have something to send and hear nothing: the oldest packet timed out and is not
// acknowledged, or no port is up whose plane is not denied. Looks at each QP: not for each turn.
uint32_t endpoint_trying(const struct endpoint *endpoint);

// How long a packet lives that is never answered, where rto_doublings is not forever.
ps_t transport_tries_ps(const struct transport_config *config);

// Takes a packet that arrived at `now`; it is given back to the pool or reused for the answer.
void endpoint_receive(struct endpoint *endpoint, uint32_t packet, ps_t now, struct outbox *out);

// Whether taking the packet may give completions: else endpoint_receive() needs no room for them.
bool endpoint_may_complete(const struct endpoint *endpoint, const struct packet *packet);

// As endpoint_receive(), for one who has no room: data are answered by NACK "no packet buffer", so
// that they come again and no path is held to have lost them; all else is given back.
void endpoint_turn_away(struct endpoint *endpoint, uint32_t packet, struct outbox *out);

// The same for a WRITE_WITH_IMM that no receive request waits for: answered by NACK "unexpected
// event", which ends its requester's QP.
void endpoint_refuse(struct endpoint *endpoint, uint32_t packet, struct outbox *out);

// From now on SACKs ask for this window penalty, 1 to 127 (64 over a window halves it); 0: for what
// was taken to be given back.
void endpoint_press(struct endpoint *endpoint, uint8_t penalty);

// When endpoint_on_time() wants to run next, PS_NEVER = not.
ps_t endpoint_wake_at(const struct endpoint *endpoint);

// Runs the timers due at `now`. Control packets that they send wait for endpoint_next().
void endpoint_on_time(struct endpoint *endpoint, ps_t now, struct outbox *out);

// Takes up to `max` completions / place orders, oldest first. There is a place order for each new
// packet with a payload handle, and for each into a region with the notice bit (a credit write,
// that the host watches for). To be emptied after each call of
// receive and on_time.
uint32_t endpoint_poll(struct endpoint *endpoint, struct completion *ret, uint32_t max);
uint32_t endpoint_poll_dma_writes(struct endpoint *endpoint, struct dma_write *ret, uint32_t max);

// Whether completions or place orders wait.
bool endpoint_has_events(const struct endpoint *endpoint);

// What it counted so far.
const struct transport_counters *endpoint_counters(const struct endpoint *endpoint);

// Before traffic: round trips and the order of arrivals go into `delays`, and data packets say when
// they left (packet_stamp()). `delays` must outlive the endpoint.
struct delays;
void endpoint_time(struct endpoint *endpoint, struct delays *delays);

// Before traffic: data packets that leave are counted, each QP's by number of its entropy value.
// `counts` [qp_max] has a row of ev_universe() for each QP, which several may share, or NULL; all
// of it must outlive the endpoint.
struct ev_count;
void endpoint_count_evs(struct endpoint *endpoint, struct ev_count *const *counts);

// Control packets it holds that have not left yet (for conservation: they are taken from the pool).
uint32_t endpoint_held(const struct endpoint *endpoint);

// Holds its counts against each other, QP by QP: stops at a bug.
void endpoint_audit(const struct endpoint *endpoint);

#ifdef __cplusplus
}
#endif
