// SPDX-License-Identifier: Apache-2.0
// How the processes of a run in wall time agree before it, and hear of each other while it goes:
// over sockets, all of them to host 0. What they exchange is small; traffic goes by the ports.
//
// An address is HOST:PORT, for machines that a network joins, or a name, for processes of this user
// on this machine; a name leaves nothing in the file system.
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <weft/core/refusal.h>
#include <weft/wall/fired.h>
#include <weft/wall/wall.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MEETING_HOSTS_MAX 1024u
#define MEETING_ANY UINT32_MAX	// an index: host 0 says which one it is
#define MEETING_WORD_BYTES 256u // that hosts greet each other with

struct meeting_options {
	const char *address;
	uint32_t index, count;		   // of this host, or MEETING_ANY; of them all
	uint32_t timeout_s;		   // for others to come, and to answer
	const char *version;		   // others have the same
	const volatile sig_atomic_t *stop; // or NULL
};

struct meeting {
	struct meeting_options options;
	int sockets[MEETING_HOSTS_MAX]; // host 0: of each other one; else [0]: that to host 0
	int bell[2];			// a pipe: the loop rings, the watch hears
	pthread_t watch;
	bool is_watched;
	volatile int news;	// enum wall_news
	volatile uint32_t lost; // host that is gone, with WALL_LOST
	bool is_silent;		// it said nothing for timeout_s
	struct fired *fired; // triggers that go between hosts, or NULL: set before meeting_watch()
};

// Meets the others: host 0 waits for them, and they wait for host 0, in any order. Each hears the
// word (MEETING_WORD_BYTES) that host 0 said; host 0 hears the last host's. -EINVAL when another
// version calls, or the same host twice; -ETIMEDOUT, -EINTR, -ECONNRESET.
int meeting_open(struct meeting *ret, const struct meeting_options *options, const void *said,
		 void *heard, struct refusal *refusal);

// Everybody gives `bytes` and gets those of all, in the order of hosts. Also a barrier.
int meeting_share(struct meeting *meeting, const void *mine, void *all, uint32_t bytes,
		  struct refusal *refusal);

// Host 0's clock, read from here over the sockets: a question and its answer, many times, of which
// the shortest round trip counts. Its half is what the reading may be off by.
struct meeting_clock {
	int64_t at_ns;	   // of this host's clock, in the middle of that round trip
	int64_t offset_ns; // of host 0's clock: what it shows more than this one's
	int64_t error_ns;  // at most, either way
};

// All hosts read it together. Host 0's own is 0, by 0. -errno as meeting_share().
int meeting_clock(struct meeting *meeting, pace_clock_fn *clock, void *context,
		  struct meeting_clock *ret, struct refusal *refusal);

// Behind a barrier: host 0 says when all begin, `lead_ns` from now by its clock. `ret_ns` is that
// moment by this host's clock, which `read` is a reading of. -errno as meeting_share().
int meeting_moment(struct meeting *meeting, int64_t now_ns, int64_t lead_ns,
		   const struct meeting_clock *read, int64_t *ret_ns, struct refusal *refusal);

// From now on another thread listens, and writes meeting->news. The other calls are the loop's:
// this host is done (a fn of struct wall_control); and the end, at which this host may say that it
// stops. After any news but WALL_ENDED the meeting is over.
int meeting_watch(struct meeting *meeting, struct refusal *refusal);
void meeting_done(void *meeting);
enum wall_news meeting_unwatch(struct meeting *meeting, bool is_stopping);

// Memory of a host: what it gives, or gave.
struct meeting_part {
	void *data;
	uint64_t bytes;
};

// Behind a run, whether it came to its end or not, and unwatched: all others give host 0 a part,
// which gets them as all[host], memory to be freed; NULL for itself, and for who has not given all
// of it within `timeout_ms`. -ENOMEM with a reason.
int meeting_gather(struct meeting *meeting, const struct meeting_part *mine,
		   struct meeting_part *all, uint32_t timeout_ms, struct refusal *refusal);

void meeting_close(struct meeting *meeting);

#ifdef __cplusplus
}
#endif
