// SPDX-License-Identifier: Apache-2.0
// What a host will read is brought into the cache while other machines run: the host, the NICs that
// something arrives at, their endpoints, and what these know of their last packets' QPs. Nothing of
// it is needed for a result.

#include <weft/core/bitmap.h>

#include <weft/host/host.h>

#define CACHE_LINE 64u

enum { FETCH_HOST, FETCH_NICS, FETCH_ENDPOINTS }; // and then what endpoints have beyond themselves
static_assert(FETCH_ENDPOINTS + ENDPOINT_FETCH_RINGS + 1 == MACHINE_FETCHES, "the last one");

static inline __attribute__((always_inline)) void fetch_nic(const struct nic *nic, uint32_t step)
{
	if (step == FETCH_NICS) {
		__builtin_prefetch(nic, 1);
		__builtin_prefetch(&nic->wake_at, 1);
	} else if (nic->endpoint != NULL) {
		endpoint_fetch(nic->endpoint, (enum endpoint_fetch)(step - FETCH_ENDPOINTS));
	}
}

void host_fetch(const void *self, const uint64_t *ports, uint32_t step)
{
	const struct world_host *host = self;
	if (step == FETCH_HOST) {
		for (uint32_t at = 0; at < sizeof(*host); at += CACHE_LINE)
			__builtin_prefetch((const char *)host + at, 1);
		return;
	}
	if (step == FETCH_NICS) {
		__builtin_prefetch(host->working, 1);
		__builtin_prefetch(host->nic_of_port);
	}
	uint32_t last = UINT32_MAX;
	for (uint32_t word = 0; word < BITMAP_WORDS(host->nic_count * host->planes); word++) {
		for (uint64_t rest = ports[word]; rest != 0; rest &= rest - 1) {
			uint32_t port = (word << 6) + (uint32_t)__builtin_ctzll(rest);
			uint32_t index = host->nic_count == 1 ? 0 : host->nic_of_port[port];
			if (index != last)
				fetch_nic(&host->nics[index], step);
			last = index;
		}
	}
}
