// SPDX-License-Identifier: Apache-2.0
// ib_write_bw: one connection that always has messages to send, between the NICs with the same
// place in the first and in the last host. The closed form is that of weft/world/world_ideal.h:
// bytes with the headers of their packets over the slowest line on the way.

#include <weft/engine/engine.h>
#include <weft/world/world_ideal.h>

#include "expect.h"

#define ALL_BYTES ((uint64_t)1 << 36) // so many that a first message does not count

#define LEAST_BYTES 32768u

static int rate_of(struct call *call, struct arena *arena, uint64_t bytes, double *ret_gbps)
{
	struct scenario *scenario = &call->scenario;
	struct topology topology;
	struct ideal *ideal;
	int rc = topology_build(&topology, arena, &scenario->fabric, scenario->seed,
				&call->refusal);
	if (rc < 0 || (rc = ideal_create(&ideal, arena, scenario, &topology, &call->refusal)) < 0)
		return rc;
	uint64_t payload = scenario->transport.payload_bytes, messages = ALL_BYTES / bytes;
	uint64_t packets = messages * ((bytes + payload - 1) / payload);
	ideal_add(ideal,
		  &(struct ideal_message){.from = 0,
					  .to = topology.nics - topology.nics_per_host,
					  .bytes = messages * bytes,
					  .first_bytes = bytes,
					  .packets = packets,
					  .packet_bytes = bytes < payload ? bytes : payload});
	*ret_gbps = (double)(messages * bytes) * 8e3 / (double)ideal_time(ideal).ps;
	return 0;
}

int wire_expect(struct call *call, struct row *row)
{
	if (row->bytes < LEAST_BYTES) {
		snprintf(row->why_not, sizeof(row->why_not),
			 "the NIC's rate of messages decides below %u bytes", LEAST_BYTES);
		return 0;
	}
	size_t bytes = call->scenario.memory_bytes_max;
	struct arena arena;
	int rc = memory_arena(&arena, bytes, &call->refusal);
	if (rc < 0)
		return rc;
	rc = rate_of(call, &arena, row->bytes, &row->most);
	memory_release(arena.base, bytes);
	row->has_expected = rc == 0;
	row->expected = row->most;
	row->least = row->expected * (1 - call->within / 100);
	return rc;
}
