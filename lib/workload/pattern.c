// SPDX-License-Identifier: Apache-2.0
// Simple patterns: who sends to whom. Each draws from the seed's own stream of the workload.

#include <errno.h>

#include <weft/check.h>
#include <weft/workload.h>

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
	for (uint32_t i = 0; i < nics; i++) {
		ret[i].from = i;
		ret[i].bytes = bytes;
		ret[i].start_ps = 0;
	}
}

void pattern_all_to_all(struct flow *ret, uint32_t nics, uint64_t bytes)
{
	for (uint32_t distance = 1; distance < nics; distance++)
		for (uint32_t nic = 0; nic < nics; nic++)
			*ret++ = (struct flow){
				.from = nic, .to = (nic + distance) % nics, .bytes = bytes};
}

// Senders are drawn in order: a NIC is taken with the probability of (still wanted) / (still
// there), so that each set is as likely as each other.
int pattern_incast(struct flow *ret, uint32_t nics, uint32_t nics_per_host, uint32_t senders,
		   uint64_t bytes, uint64_t seed, struct refusal *refusal)
{
	check(nics_per_host > 0);
	if (senders == 0)
		return refuse(refusal, -EINVAL, "an incast needs a sender", 0, 0, 0);
	struct rng rng = rng_of(seed, RNG_WORKLOAD, 1);
	if (nics < nics_per_host || senders > nics - nics_per_host)
		return refuse(refusal, -EINVAL,
			      "an incast of % senders needs as many NICs outside the receiver's "
			      "host, but of % NICs a host has %",
			      senders, nics, nics_per_host);
	uint32_t to = rng_below(&rng, nics), host = to / nics_per_host, count = 0;
	uint32_t in_host = nics - host * nics_per_host < nics_per_host ? nics - host * nics_per_host
								       : nics_per_host;
	uint32_t there = nics - in_host;
	for (uint32_t nic = 0; nic < nics && count < senders; nic++) {
		if (nic / nics_per_host == host)
			continue;
		if (rng_below(&rng, there--) >= senders - count)
			continue;
		ret[count++] = (struct flow){.from = nic, .to = to, .bytes = bytes};
	}
	check(count == senders);
	return 0;
}
