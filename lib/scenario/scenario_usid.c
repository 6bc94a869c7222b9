// SPDX-License-Identifier: Apache-2.0
// fabric.forwarding: usid, SRHs, and DSCPs of frames. The high bits of an EV are the uSID that a T0
// follows up, so that EVs and frames must be made for it.

#include <string.h>

#include "scenario_reader.h"

#define FORWARDING "fabric.forwarding"
#define T0S_MAX 4096u	   // numbers of T0 switches in a uSID, below the plane's bits
#define T0_NICS_MAX 2048u  // numbers of NICs below a T0
#define USID_PLANES_MAX 15 // numbers of planes
#define SRH_BYTES 24	   // RFC 8754, with one segment

static uint32_t up_ports(const struct fabric_config *fabric)
{
	return fabric->t1_count * fabric->bundle;
}

void reader_settle_usid(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	struct transport_config *transport = &scenario->transport;
	if (scenario->fabric.forwarding != FABRIC_USID || up_ports(&scenario->fabric) == 0)
		return;
	if (!reader_is_given(reader, "wire.entropy"))
		scenario->frames.entropy = FRAMES_ENTROPY_SRV6;
	if (!reader_is_given(reader, "wire.ev")) // the high half would give ports of known services
		scenario->frames.ev_place = FRAMES_EV_PORT_LOW;
	if (transport->ev_mode != EV_AUTO)
		return;
	// the up port, and bits that tell apart those that take the same one
	const uint32_t rest = 32 - USID_TRUNK_BITS;
	transport->ev_mode = EV_GENERATED;
	transport->ev_field_count = 2;
	transport->ev_fields[0] = (struct ev_field){
		.bits = USID_TRUNK_BITS, .max = up_ports(&scenario->fabric) - 1, .is_even = true};
	transport->ev_fields[1] = (struct ev_field){.bits = rest, .max = (UINT32_C(1) << rest) - 1};
}

void reader_settle_srh(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	if (!scenario->frames.has_srh)
		return;
	if (!reader_is_given(reader, "transport.header"))
		scenario->transport.header_bytes += SRH_BYTES;
	if (!reader_is_given(reader, "transport.control"))
		scenario->transport.control_bytes += SRH_BYTES;
	if (!reader_is_given(reader, "queue.trim_bytes"))
		scenario->fabric.trim_bytes += SRH_BYTES;
}

// Other choices that leave nothing for a source route to say.
static int check_choices(struct reader *reader)
{
	const struct scenario *scenario = reader->scenario;
	const struct {
		bool is_wrong;
		const char *path, *needs;
	} choices[] = {
		{scenario->fabric.kind != TOPOLOGY_CLOS, "fabric.topology", "clos or leaf-spine"},
		{scenario->fabric.spray != FABRIC_SPRAY_HASH, "fabric.spray", "hash"},
		{scenario->frames.ip_version != 6, "wire.ip", "6"},
		{scenario->frames.entropy != FRAMES_ENTROPY_SRV6, "wire.entropy", "srv6"},
	};
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++)
		if (choices[i].is_wrong)
			return reader_refuse(reader, reader_mark(reader, FORWARDING),
					     FORWARDING ": usid needs %s %s", choices[i].path,
					     choices[i].needs);
	return 0;
}

// Only data that is sent again may look like other data.
int reader_check_dscp(struct reader *reader)
{
	static const char *const paths[FRAMES_CLASSES] = {
		"wire.dscp_no_trim", "wire.dscp_trimmable",    "wire.dscp_trimmable_retx",
		"wire.dscp_trimmed", "wire.dscp_trimmed_last", "wire.dscp_control"};
	const uint8_t *dscp = reader->scenario->frames.dscp;
	for (int other = 0; other < FRAMES_CLASSES; other++)
		for (int index = other + 1; index < FRAMES_CLASSES; index++)
			if (dscp[other] == dscp[index] && (other != 1 || index != 2))
				return reader_refuse(
					reader,
					reader_mark(reader,
						    reader_is_given(reader, paths[index])
							    ? paths[index]
							    : paths[other]),
					"%s: %u is the value of %s, too; switches "
					"would take one for the other",
					paths[index], dscp[index], paths[other]);
	return 0;
}

int reader_check_usid(struct reader *reader)
{
	const struct fabric_config *fabric = &reader->scenario->fabric;
	if (fabric->forwarding != FABRIC_USID)
		return 0;
	int rc = check_choices(reader);
	if (rc != 0)
		return rc;
	const struct {
		uint32_t count, max;
		const char *of;
	} limits[] = {
		{up_ports(fabric), UINT32_C(1) << USID_TRUNK_BITS, "up ports of a T0"},
		{fabric->nics / fabric->nics_per_t0, T0S_MAX, "T0 switches of a plane"},
		{fabric->nics_per_t0, T0_NICS_MAX, "NICs below a T0"},
		{fabric->planes, USID_PLANES_MAX, "planes"},
	};
	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].count > limits[i].max)
			return reader_refuse(reader, reader_mark(reader, FORWARDING),
					     FORWARDING ": a uSID tells %u %s apart, not %u",
					     limits[i].max, limits[i].of, limits[i].count);
	return 0;
}
