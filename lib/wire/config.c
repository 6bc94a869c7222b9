// SPDX-License-Identifier: Apache-2.0
// How packets look as bytes: defaults, what can be wrong with a choice, and the names of reasons.
// The defaults and who disputes them: docs/wire.md.

#include <weft/wire/wire.h>

#include <errno.h>

#include "eth.h"
#include "ip.h"
#include "mrc.h"
#include "srv6.h"
#include "udp.h"

#define ULA_PREFIX UINT64_C(0xfd77656674000000) // fd77:6566:7400::/48, "weft" in a local prefix
#define BENCH_PREFIX (UINT32_C(198) << 24 | UINT32_C(18) << 16) // 198.18.0.0/15 of RFC 2544
#define MAC_LOCAL 0x02						// administered locally
#define MAC_GROUP 0x01
#define DSCP_MAX 63
#define WHOLE_MAX (UINT16_MAX - WIRE_LINE_BYTES) // a frame whose packet.wire_bytes holds it
#define FULL_MAX \
	(WHOLE_MAX - ETH_BYTES - IPV6_BYTES - UDP_BYTES - MRC_BTH_BYTES - MRC_METH_BYTES - \
	 MRC_TSETH_BYTES - MRC_RETH_BYTES - MRC_IMM_BYTES - WIRE_ICRC_BYTES - 3)
#define SRV6_BLOCK 0x5f007765u // 5f00::/16 is for SRv6 (RFC 9602); "we"
#define SRV6_PLANE_SHIFT 12    // planes 0 to 14
#define SRV6_DOWN 0x800	       // at a T0: to a NIC, not up
#define SRV6_TAKE_OUT 0xfff    // at a NIC: the packet inside is for it
// What a trim must keep, so that the sender can be notified: all through the time stamp.
#define TRIM_MIN \
	(ETH_BYTES + IPV6_BYTES + UDP_BYTES + MRC_BTH_BYTES + MRC_METH_BYTES + MRC_TSETH_BYTES)

const char *wire_reason_name(enum wire_reason reason)
{
	static const char *const names[] = {
		[WIRE_FINE] = "fine",
		[WIRE_SHORT_ETH] = "cut in Ethernet",
		[WIRE_SHORT_IP] = "cut in IP",
		[WIRE_SHORT_UDP] = "cut in UDP",
		[WIRE_SHORT_BTH] = "cut in BTH",
		[WIRE_SHORT_EXTENSION] = "cut behind BTH",
		[WIRE_SHORT_PAYLOAD] = "cut in payload",
		[WIRE_NOT_IP] = "not IP",
		[WIRE_NOT_UDP] = "not UDP",
		[WIRE_NOT_MRC] = "not MRC",
		[WIRE_FRAGMENT] = "fragment",
		[WIRE_BAD_VERSION] = "bad version",
		[WIRE_BAD_LENGTH] = "bad length",
		[WIRE_BAD_SEGMENTS] = "bad segments",
		[WIRE_BAD_CHECKSUM] = "bad checksum",
		[WIRE_BAD_ICRC] = "bad ICRC",
		[WIRE_BAD_HOP] = "bad hop limit",
		[WIRE_UNKNOWN_OPCODE] = "unknown opcode",
		[WIRE_NOT_TRIMMABLE] = "trimmed control packet",
		[WIRE_OFF_ROUTE] = "off its route",
		[WIRE_FOREIGN_ADDRESS] = "foreign address",
		[WIRE_FOREIGN_PARTITION] = "foreign partition",
	};
	static_assert(sizeof(names) / sizeof(names[0]) == WIRE_REASON_COUNT, "a name for each");
	return reason < WIRE_REASON_COUNT ? names[reason] : "?";
}

// Up from the sender's T0 to the T1 that the EV's high bits choose, down to the target's T0, down
// to the target.
static const struct wire_srv6 srv6_default = {
	.block = SRV6_BLOCK,
	.t0_nics = 256,
	.plane_shift = SRV6_PLANE_SHIFT,
	.usid_count = 4,
	.usids = {{.mask = SRV6_DOWN - 1, .max = SRV6_DOWN - 1, .is_trunk = true},
		  {.part = WIRE_USID_T0, .is_trunk = true},
		  {.init = SRV6_DOWN, .part = WIRE_USID_PORT},
		  {.init = SRV6_TAKE_OUT}},
};

void wire_config_default(uint8_t ip_version, struct wire_config *ret)
{
	*ret = (struct wire_config){
		.ipv6_prefix = ULA_PREFIX,
		.ipv4_prefix = BENCH_PREFIX,
		.ipv4_prefix_bits = 15,
		.ipv4_plane_bits = 3,
		.mac_first = MAC_LOCAL,
		.ip_version = ip_version,
		.entropy = WIRE_ENTROPY_STEV,
		.ev_place = WIRE_EV_PORT_HIGH,
		.hop_limit = 64,
		.dscp = {[WIRE_CLASS_NO_TRIM] = 0,
			 [WIRE_CLASS_TRIMMABLE] = 4,
			 [WIRE_CLASS_TRIMMABLE_RETX] = 8,
			 [WIRE_CLASS_TRIMMED] = 12,
			 [WIRE_CLASS_TRIMMED_LAST] = 16,
			 [WIRE_CLASS_CONTROL] = 46},
		.port = WIRE_PORT,
		.pkey = 0xffff,
		.has_tseth = true,
		.trim_rewrites_lengths = true,
		.srv6 = srv6_default,
	};
}

static int check_addresses(const struct wire_config *config, struct refusal *refusal)
{
	uint32_t prefix_bits = config->ipv4_prefix_bits;
	if (config->ipv6_prefix & UINT16_MAX)
		return refuse(refusal, -EINVAL, "the IPv6 prefix may have 48 bits");
	if (prefix_bits < 1 || config->ipv4_plane_bits > 8 ||
	    prefix_bits + config->ipv4_plane_bits > 30)
		return refuse(refusal, -EINVAL,
			      "the IPv4 prefix takes % bits and the plane % (at most 8): together "
			      "at least 1 and at most 30",
			      prefix_bits, config->ipv4_plane_bits);
	if (config->ipv4_prefix << prefix_bits != 0)
		return refuse(refusal, -EINVAL, "the IPv4 prefix has more than its % bits",
			      prefix_bits);
	if (config->mac_first & MAC_GROUP)
		return refuse(refusal, -EINVAL, "the MAC prefix is a group address");
	return 0;
}

// What was trimmed must be distinct from all else; the other classes may share a value.
static int check_classes(const struct wire_config *config, struct refusal *refusal)
{
	for (int a = 0; a < WIRE_CLASS_COUNT; a++) {
		bool is_trimmed = a == WIRE_CLASS_TRIMMED || a == WIRE_CLASS_TRIMMED_LAST;
		if (config->dscp[a] > DSCP_MAX)
			return refuse(refusal, -EINVAL, "DSCP % is above %", config->dscp[a],
				      DSCP_MAX);
		for (int b = 0; b < WIRE_CLASS_COUNT; b++)
			if (is_trimmed && b != WIRE_CLASS_TRIMMED && b != WIRE_CLASS_TRIMMED_LAST &&
			    config->dscp[a] == config->dscp[b])
				return refuse(refusal, -EINVAL,
					      "DSCP % stands for trimmed packets and for others",
					      config->dscp[a]);
	}
	return 0;
}

// Sizes that a frame of these choices has no room for.
static int check_sizes(const struct wire_config *config, struct refusal *refusal)
{
	uint32_t outer = config->entropy == WIRE_ENTROPY_SRV6 ? WIRE_SRV6_BYTES_MAX : 0;
	if (config->trim_frame_bytes != 0 && config->trim_frame_bytes < TRIM_MIN + outer)
		return refuse(refusal, -EINVAL,
			      "a trim that keeps % bytes loses the time stamp: at least %",
			      config->trim_frame_bytes, TRIM_MIN + outer);
	if (config->full_payload_bytes > FULL_MAX - outer)
		return refuse(refusal, -EINVAL, "a full payload of % bytes is above %",
			      config->full_payload_bytes, FULL_MAX - outer);
	return 0;
}

int wire_config_check(const struct wire_config *config, struct refusal *refusal)
{
	if (config->ip_version != 4 && config->ip_version != 6)
		return refuse(refusal, -EINVAL, "there is no IP version %", config->ip_version);
	if (config->entropy > WIRE_ENTROPY_SRV6 || config->ev_place > WIRE_EV_PORT_LOW ||
	    config->addresses > WIRE_ADDRESSES_GIVEN)
		return refuse(refusal, -EINVAL, "unknown place of the EV, or address rule");
	if (config->addresses == WIRE_ADDRESSES_GIVEN && config->entropy == WIRE_ENTROPY_SRV6)
		return refuse(refusal, -EINVAL, "SRv6 routes go by the rule of addresses");
	if (config->port != WIRE_PORT && config->port != WIRE_PORT_OTHER)
		return refuse(refusal, -EINVAL, "UDP port % is neither % nor %", config->port,
			      WIRE_PORT, WIRE_PORT_OTHER);
	if (config->hop_limit == 0)
		return refuse(refusal, -EINVAL, "the hop limit is 0");
	if ((config->pkey & MRC_PKEY_PARTITION) == 0)
		return refuse(refusal, -EINVAL, "the P_Key % is of no partition", config->pkey);
	int wrong = check_sizes(config, refusal);
	if (wrong == 0 && config->entropy == WIRE_ENTROPY_SRV6)
		wrong = srv6_check(config, refusal);
	if (wrong == 0)
		wrong = check_addresses(config, refusal);
	return wrong != 0 ? wrong : check_classes(config, refusal);
}

// ---------------------------------------------------------------- uSIDs

// The values that a uSID's part can have: below what its start value, mask and plane take.
static uint32_t room_of(const struct wire_srv6 *srv6, const struct wire_usid *usid)
{
	uint32_t taken = usid->init | usid->mask | UINT32_C(1) << srv6->plane_shift;
	return taken & -taken;
}

static int check_usid(const struct wire_srv6 *srv6, uint32_t index, struct refusal *refusal)
{
	const struct wire_usid *usid = &srv6->usids[index];
	struct wire_ev_field field = {usid->init, usid->mask, usid->max, USID_BITS};
	if (usid->part > WIRE_USID_PORT)
		return refuse(refusal, -EINVAL, "uSID %: unknown part", index);
	if ((usid->init | usid->mask) >> srv6->plane_shift != 0)
		return refuse(refusal, -EINVAL, "uSID %: the plane stands from bit % on", index,
			      srv6->plane_shift);
	if (usid->part == WIRE_USID_PORT && srv6->t0_nics > room_of(srv6, usid))
		return refuse(refusal, -EINVAL, "uSID %: room for % NICs of a T0, not for %", index,
			      room_of(srv6, usid), srv6->t0_nics);
	return wire_ev_check(&field, 1, USID_BYTES, refusal);
}

// Below one T0, too, the destination has a uSID before the segment's.
static bool has_two_near(const struct wire_srv6 *srv6)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < srv6->usid_count; i++)
		count += !srv6->usids[i].is_trunk;
	return count >= 2;
}

int srv6_check(const struct wire_config *config, struct refusal *refusal)
{
	const struct wire_srv6 *srv6 = &config->srv6;
	int bits = 0, wrong = 0;
	if (srv6->usid_count < 1 || srv6->usid_count > WIRE_USIDS_MAX)
		return refuse(refusal, -EINVAL, "% uSIDs: 1 to %", srv6->usid_count,
			      WIRE_USIDS_MAX);
	if (srv6->plane_shift < 1 || srv6->plane_shift >= USID_BITS || srv6->t0_nics == 0)
		return refuse(refusal, -EINVAL,
			      "uSIDs of 16 bits have the plane from bit 1 to 15 on, and a T0 has "
			      "NICs");
	for (uint32_t i = 0; i < srv6->usid_count && wrong == 0; i++) {
		wrong = check_usid(srv6, i, refusal);
		bits += __builtin_popcount(srv6->usids[i].mask);
	}
	if (wrong == 0 && bits > (config->ip_version == 4 ? 16 : 32))
		return refuse(refusal, -EINVAL, "uSIDs take % bits of the EV, it has %", bits,
			      config->ip_version == 4 ? 16 : 32);
	if (wrong == 0 && srv6->usids[srv6->usid_count - 1].is_trunk)
		return refuse(refusal, -EINVAL, "the last uSID is the NIC's own");
	if (wrong == 0 && srv6->has_srh && !has_two_near(srv6))
		return refuse(
			refusal, -EINVAL,
			"an SRH has the last uSID: below one T0, too, another one goes ahead");
	return wrong;
}

uint32_t srv6_nics_max(const struct wire_config *config)
{
	const struct wire_srv6 *srv6 = &config->srv6;
	uint64_t nics = UINT32_MAX;
	for (uint32_t i = 0; i < srv6->usid_count; i++) {
		uint64_t own = (uint64_t)srv6->t0_nics * room_of(srv6, &srv6->usids[i]);
		if (srv6->usids[i].part == WIRE_USID_T0 && own < nics)
			nics = own;
	}
	return (uint32_t)nics;
}

uint32_t srv6_planes_max(const struct wire_config *config)
{
	return (UINT32_C(1) << (USID_BITS - config->srv6.plane_shift)) - 1;
}
