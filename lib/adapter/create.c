// SPDX-License-Identifier: Apache-2.0
// The making of an adapter: its memory is measured and drawn once. Nothing in here runs later.
#include <weft/core/integer.h>

#include "adapter.h"

#include <errno.h>
#include <string.h>

// What the adapter draws beside its endpoint.
struct sizes {
	uint32_t packets;     // all control packets that an endpoint may hold, and the one at hand
	uint32_t chunks;      // for these
	uint32_t sources;     // of one QP, a power of two
	uint32_t receives;    // of one QP, a power of two
	uint32_t peers;	      // places of the hash, a power of two
	uint32_t burst;	      // completions that one call can cause
	uint32_t completions; // places of the ring, a power of two
	uint32_t values;      // of an EV profile
};

static struct sizes sizes_of(const struct adapter_config *config)
{
	const struct transport_config *transport = &config->transport;
	struct sizes sizes = {
		.packets = transport->planes * ENDPOINT_CONTROL_MAX + 2,
		.sources = power_of_two(1, transport->sends_max),
		.peers = power_of_two(1, 2 * config->qp_max),
		.burst = transport->sends_max + transport->wimm_max,
	};
	sizes.receives = power_of_two(1, config->receives_max);
	sizes.chunks = fifo_chunks_for(transport->planes, sizes.packets);
	sizes.values = transport->ev_profiles_max > 0 ? transport->ev_count : 0;
	sizes.completions = power_of_two(1, config->completion_max + sizes.burst);
	return sizes;
}

static uint64_t total_bytes(const struct adapter_config *config)
{
	struct sizes sizes = sizes_of(config);
	const uint64_t parts[] = {
		sizeof(struct adapter),
		endpoint_bytes(&config->transport, config->qp_max),
		(sizes.packets + UINT64_C(1)) * sizeof(struct packet),
		(sizes.packets + UINT64_C(1)) * sizeof(uint32_t),
		(sizes.chunks + UINT64_C(1)) * FIFO_CHUNK_BYTES,
		config->transport.regions_max * sizeof(struct mapping),
		config->qp_max * sizeof(struct connection),
		(uint64_t)config->qp_max * sizes.sources * sizeof(struct source),
		(uint64_t)config->qp_max * sizes.receives * sizeof(uint64_t),
		sizes.peers * sizeof(uint32_t),
		host_table_bytes(config->qp_max, config->transport.planes, ADAPTER_ALIGN),
		sizes.completions * sizeof(struct completion),
		sizes.values * sizeof(uint32_t),
	};
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		bytes += (parts[i] + ADAPTER_ALIGN - 1) / ADAPTER_ALIGN * ADAPTER_ALIGN;
	return bytes;
}

size_t adapter_bytes(const struct adapter_config *config, struct refusal *refusal)
{
	struct adapter_config complete;
	if (config_complete(config, &complete, refusal) != 0)
		return 0;
	uint64_t bytes = total_bytes(&complete);
	if (bytes > SIZE_MAX) {
		refuse(refusal, -ENOMEM, "% bytes are more than this machine can address",
		       (int64_t)bytes);
		return 0;
	}
	return (size_t)bytes;
}

static int draw_connections(struct adapter *adapter, const struct sizes *sizes)
{
	struct arena *arena = &adapter->arena;
	uint32_t qps = adapter->config.qp_max;
	adapter->connections = arena_draw(arena, ARENA_DRIVE, qps, sizeof(struct connection));
	struct source *sources = arena_draw(arena, ARENA_DRIVE, (size_t)qps * sizes->sources,
					    sizeof(struct source));
	uint64_t *receives = arena_draw(arena, ARENA_DRIVE, (size_t)qps * sizes->receives,
					sizeof(uint64_t));
	adapter->by_peer = arena_draw(arena, ARENA_DRIVE, sizes->peers, sizeof(uint32_t));
	if (arena_has_failed(arena))
		return -ENOMEM;
	for (uint32_t qpn = 0; qpn < qps; qpn++) {
		adapter->connections[qpn].sources = sources + (size_t)qpn * sizes->sources;
		adapter->connections[qpn].receives = receives + (size_t)qpn * sizes->receives;
	}
	adapter->receives_mask = sizes->receives - 1;
	adapter->sources_mask = sizes->sources - 1;
	adapter->by_peer_mask = sizes->peers - 1;
	return 0;
}

static int draw_lists(struct adapter *adapter, const struct sizes *sizes)
{
	struct arena *arena = &adapter->arena;
	adapter->completions = arena_draw(arena, ARENA_DRIVE, sizes->completions,
					  sizeof(struct completion));
	adapter->completions_mask = sizes->completions - 1;
	adapter->completions_burst = sizes->burst;
	int rc = adapter->completions == NULL ? -ENOMEM : 0;
	if (rc == 0)
		rc = packet_pool_init(&adapter->packets, arena, sizes->packets);
	if (rc == 0)
		rc = fifo_pool_init(&adapter->chunks, arena, sizes->chunks);
	if (rc == 0)
		rc = mapping_table_init(&adapter->mappings, arena,
					adapter->config.transport.regions_max);
	if (rc == 0 && adapter_is_given(adapter))
		rc = host_table_init(&adapter->hosts, arena, adapter->config.qp_max,
				     adapter->config.transport.planes);
	if (sizes->values > 0)
		adapter->values = arena_draw(arena, ARENA_DRIVE, sizes->values, sizeof(uint32_t));
	if (sizes->values > 0 && adapter->values == NULL)
		rc = -ENOMEM;
	adapter->out = (struct outbox){.packets = &adapter->packets, .chunks = &adapter->chunks};
	return rc;
}

static int draw(struct adapter *adapter, struct refusal *refusal)
{
	struct adapter_config *config = &adapter->config;
	struct sizes sizes = sizes_of(config);
	int rc = endpoint_create(&adapter->endpoint, &adapter->arena, &config->transport,
				 config->nic, config->qp_max, config->seed, refusal);
	if (rc == 0)
		rc = draw_connections(adapter, &sizes);
	if (rc == 0)
		rc = draw_lists(adapter, &sizes);
	return rc;
}

// The own ports, as they were given or by the rule.
static void fill_ends(struct adapter *adapter)
{
	struct adapter_config *config = &adapter->config;
	for (uint32_t plane = 0; plane < config->transport.planes; plane++)
		if (config->ends != NULL)
			adapter->ends[plane] = config->ends[plane];
		else
			wire_end_by_rule(&config->wire, config->nic, (uint8_t)plane,
					 &adapter->ends[plane]);
	config->ends = NULL; // the caller's
}

static size_t largest_frame(const struct adapter_config *config)
{
	struct packet data = {.opcode = PACKET_WRITE_ONLY_IMM,
			      .payload_bytes = (uint16_t)config->transport.payload_bytes};
	struct packet sack = {.opcode = PACKET_SACK};
	size_t data_bytes = wire_frame_bytes(&config->wire, &data);
	size_t sack_bytes = wire_frame_bytes(&config->wire, &sack);
	return data_bytes > sack_bytes ? data_bytes : sack_bytes;
}

int adapter_create(struct adapter **ret, void *memory, size_t bytes,
		   const struct adapter_config *config, struct refusal *refusal)
{
	struct adapter_config complete;
	struct arena arena;
	int rc = config_complete(config, &complete, refusal);
	if (rc != 0)
		return rc;
	if (memory == NULL || (uintptr_t)memory % ADAPTER_ALIGN != 0)
		return refuse(refusal, -EINVAL, "the memory must be there, and aligned to % bytes",
			      ADAPTER_ALIGN);
	uint64_t needed = total_bytes(&complete);
	if (bytes < needed)
		return refuse(refusal, -ENOMEM, "% bytes of memory, but % are needed",
			      (int64_t)bytes, (int64_t)needed);
	memset(memory, 0, (size_t)needed);
	arena_init(&arena, memory, (size_t)needed);
	struct adapter *adapter = arena_draw(&arena, ARENA_DRIVE, 1, sizeof(*adapter));
	check(adapter != NULL);
	adapter->config = complete;
	adapter->arena = arena;
	rc = draw(adapter, refusal);
	check(rc == 0 && "adapter_bytes() says enough");
	arena_seal(&adapter->arena);
	fill_ends(adapter);
	adapter->line = line_of(complete.plane_bps);
	adapter->frame_bytes = largest_frame(&complete);
	adapter->rng = rng_of(complete.seed, RNG_QP, UINT64_C(1) << 48 | complete.nic);
	*ret = adapter;
	return 0;
}
