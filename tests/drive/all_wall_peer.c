// SPDX-License-Identifier: Apache-2.0
// What a host in wall time saw of its peer, against what the test saw of the frames on their way.

#include "wall_pair.h"

#define HOPS_AT 21  // of an IPv6 header behind Ethernet's
#define LABEL_AT 15 // flow label, its low 20 bits
#define PORT_AT 54  // UDP's source port
#define KEYS_MAX 4096
#define IPV6_TYPE_AT 12

struct way {
	uint64_t frames, keys[KEYS_MAX];
	uint32_t paths;
};

static struct way ways[HOSTS];

static bool is_packet(const struct frame *frame)
{
	return frame->bytes[IPV6_TYPE_AT] == 0x86 && frame->bytes[20] == 17;
}

// Also takes hops of each: switches on the way.
static void see(uint32_t host, const struct frame *frame)
{
	struct way *way = &ways[host];
	const uint8_t *at = frame->bytes;
	uint64_t key = (uint64_t)at[1] << 48; // the plane is in the MAC
	if (!is_packet(frame))
		return;
	key |= (uint64_t)(at[LABEL_AT] & 15) << 32 | (uint64_t)at[LABEL_AT + 1] << 24 |
		(uint64_t)at[LABEL_AT + 2] << 16 | (uint64_t)at[PORT_AT] << 8 | at[PORT_AT + 1];
	frame->bytes[HOPS_AT] = (uint8_t)(frame->bytes[HOPS_AT] - (way->frames++ % 2 == 0 ? 3 : 5));
	for (uint32_t i = 0; i < way->paths; i++)
		if (way->keys[i] == key)
			return;
	assert_true(way->paths < KEYS_MAX);
	way->keys[way->paths++] = key;
}

static struct pair *run(const char *transport, uint32_t lose_each)
{
	memset(ways, 0, sizeof(ways));
	struct pair *pair = pair_open(
		"{from: 0, to: 1, bytes: 4MiB}, {from: 1, to: 0, bytes: 1MiB}", transport);
	harm.seen = see;
	harm.lose_each = lose_each;
	look(pair, LOOK_PS, PS_PER_S);
	assert_true(is_done(pair));
	return pair;
}

static void frames_hops_and_paths_are_those_on_the_way(void **)
{
	struct pair *pair = run("", 0);
	for (uint32_t host = 0; host < HOSTS; host++) {
		struct seen_pair here, there;
		seen_pair(wall_seen(pair->wall[host]), host, 1 - host, &here);
		seen_pair(wall_seen(pair->wall[1 - host]), 1 - host, host, &there);
		assert_int_equal(here.frames_left, ways[host].frames);
		assert_int_equal(here.paths_left, ways[host].paths);
		assert_in_range(there.frames_came, ways[host].frames - 8, ways[host].frames);
		assert_int_equal(there.paths_came, ways[host].paths);
		assert_true(ways[host].paths >= 16);
		assert_int_equal(there.hops_least, 3);
		assert_int_equal(there.hops_most, 5);
		assert_false(here.is_more || there.is_more);
		seen_pair(wall_seen(pair->wall[host]), host, host,
			  &here); // of itself there is nothing
		assert_int_equal(here.frames_left + here.frames_came, 0);
	}
	pair_close(pair);
}

static void what_is_lost_did_not_come(void **)
{
	struct pair *pair = run("", 50);
	uint64_t missing = 0, all = 0;
	for (uint32_t host = 0; host < HOSTS; host++) {
		struct seen_pair here, there;
		seen_pair(wall_seen(pair->wall[host]), host, 1 - host, &here);
		seen_pair(wall_seen(pair->wall[1 - host]), 1 - host, host, &there);
		missing += here.frames_left - there.frames_came;
		all += here.frames_left;
	}
	assert_in_range(missing, all / 50 - 8, all / 50 + 8); // ARP and ND are lost, too
	pair_close(pair);
}
