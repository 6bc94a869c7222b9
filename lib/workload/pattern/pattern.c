// SPDX-License-Identifier: Apache-2.0
// Simple patterns: who sends to whom. Each draws from the seed's own stream of the workload.

#include <errno.h>

#include <weft/core/check.h>
#include <weft/workload/workload.h>

// Shuffles from the top (Fisher-Yates). A place is final once it is drawn: false at the first that
// keeps its own number.
static bool shuffle(struct flow *flows, uint32_t nics, struct rng *rng)
{
	for (uint32_t i = 0; i < nics; i++)
		flows[i].to = i;
	for (uint32_t left = nics; left > 0; left--) {
		uint32_t last = left - 1, pick = rng_below(rng, left);
		uint32_t to = flows[pick].to;
		flows[pick].to = flows[last].to;
		flows[last].to = to;
		if (to == last)
			return false;
	}
	return true;
}

// Whole shuffles are drawn and those with a fixed point thrown away: only so is every derangement
// as likely as every other. (Sattolo's shuffle would give cycles alone.) It takes e = 2.7 tries in
// the mean, whatever the size.
void pattern_permutation(struct flow *ret, uint32_t nics, uint64_t bytes, uint64_t seed)
{
	check(nics >= 2); // one NIC has nobody to send to
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 0);
	while (!shuffle(ret, nics, &rng))
		;
	for (uint32_t i = 0; i < nics; i++)
		ret[i] = (struct flow){.from = i, .to = ret[i].to, .bytes = bytes};
}

void pattern_all_to_all(struct flow *ret, uint32_t nics, uint64_t bytes)
{
	for (uint32_t distance = 1; distance < nics; distance++)
		for (uint32_t nic = 0; nic < nics; nic++)
			*ret++ = (struct flow){
				.from = nic, .to = (nic + distance) % nics, .bytes = bytes};
}

// A centre and `count` others outside of its host. They are drawn in order: a NIC is taken with the
// probability of (still wanted) / (still there), so that each set is as likely as each other.
static void draw_star(struct flow *ret, uint32_t nics, uint32_t nics_per_host, uint32_t count,
		      struct rng *rng)
{
	uint32_t centre = rng_below(rng, nics), host = centre / nics_per_host, drawn = 0;
	uint32_t in_host = nics - host * nics_per_host < nics_per_host ? nics - host * nics_per_host
								       : nics_per_host;
	uint32_t there = nics - in_host;
	for (uint32_t nic = 0; nic < nics && drawn < count; nic++) {
		if (nic / nics_per_host == host)
			continue;
		if (rng_below(rng, there--) >= count - drawn)
			continue;
		ret[drawn++] = (struct flow){.from = nic, .to = centre};
	}
	check(drawn == count);
}

int pattern_incast(struct flow *ret, uint32_t nics, uint32_t nics_per_host, uint32_t senders,
		   uint64_t bytes, uint64_t seed, struct refusal *refusal)
{
	check(nics_per_host > 0);
	if (senders == 0)
		return refuse(refusal, -EINVAL, "an incast needs a sender");
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 1);
	if (nics < nics_per_host || senders > nics - nics_per_host)
		return refuse(refusal, -EINVAL,
			      "an incast of % senders needs as many NICs outside the receiver's "
			      "host, but of % NICs a host has %",
			      senders, nics, nics_per_host);
	draw_star(ret, nics, nics_per_host, senders, &rng);
	for (uint32_t i = 0; i < senders; i++)
		ret[i].bytes = bytes;
	return 0;
}

int pattern_outcast(struct flow *ret, uint32_t nics, uint32_t nics_per_host, uint32_t receivers,
		    uint64_t bytes, uint64_t seed, struct refusal *refusal)
{
	check(nics_per_host > 0);
	if (receivers == 0)
		return refuse(refusal, -EINVAL, "an outcast needs a receiver");
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 2);
	if (nics < nics_per_host || receivers > nics - nics_per_host)
		return refuse(refusal, -EINVAL,
			      "an outcast to % receivers needs as many NICs outside the sender's "
			      "host, but of % NICs a host has %",
			      receivers, nics, nics_per_host);
	draw_star(ret, nics, nics_per_host, receivers, &rng);
	for (uint32_t i = 0; i < receivers; i++)
		ret[i] = (struct flow){.from = ret[i].to, .to = ret[i].from, .bytes = bytes};
	return 0;
}

void pattern_tornado(struct flow *ret, uint32_t nics, uint64_t bytes)
{
	check(nics >= 2 && nics % 2 == 0);
	for (uint32_t nic = 0; nic < nics; nic++)
		ret[nic] = (struct flow){
			.from = nic, .to = (nic + nics / 2) % nics, .bytes = bytes};
}

// ---------------------------------------------------------------- butterfly

uint32_t pattern_butterfly_rounds(uint32_t nics)
{
	bool is_power = nics >= 2 && (nics & (nics - 1)) == 0;
	return is_power ? (uint32_t)__builtin_ctz(nics) : 0;
}

// The trigger that lets NIC `nic` begin a round: none for the first.
static uint32_t round_trigger(uint32_t nics, uint32_t round, uint32_t nic)
{
	return round == 0 ? 0 : (round - 1) * nics + nic + 1;
}

void pattern_butterfly(struct flow *ret, struct trigger *triggers, uint32_t nics, uint64_t bytes)
{
	uint32_t rounds = pattern_butterfly_rounds(nics);
	check(rounds > 0);
	for (uint32_t at = 0; at < rounds * nics; at++) {
		uint32_t round = at / nics, nic = at % nics, twin = nic ^ (1u << round);
		bool is_last = round + 1 == rounds;
		ret[at] = (struct flow){
			.from = nic,
			.to = twin,
			.bytes = bytes,
			.start_ps = round == 0 ? 0 : PS_NEVER,
			.trigger = round_trigger(nics, round, nic),
			.on_sent = is_last ? 0 : round_trigger(nics, round + 1, nic),
			.on_received = is_last ? 0 : round_trigger(nics, round + 1, twin),
		};
		if (round > 0) // sent and received
			triggers[at - nics] = (struct trigger){
				.kind = TRIGGER_BARRIER, .needed = 2, .first = at + 1};
	}
}
