// SPDX-License-Identifier: Apache-2.0
// A program for the kernel at the entry of an interface, behind sockets of packets. See
// device_name.h. It is written here in the kernel's instructions, so that nothing is needed to make
// it.

#include "device_name.h"

#include <errno.h>
#include <linux/bpf.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <weft/wire/wire.h>

#define TCX_INGRESS 46 // younger than the headers of some distributions
#define PASS_ON (-1)
#define DROP 2

// Offsets from the Ethernet header, or from that of an inner IP header.
#define TYPE_AT 12
#define V4_AT 14
#define V4_PROTOCOL_AT 23
#define V4_PORT_AT 36 // behind 20 bytes of header
#define V6_NEXT_AT 20
#define V6_ABOVE_AT 54 // SRH: its next header, and behind it its length
#define SRH_UNIT_SHIFT 3
#define INNER_V4_PROTOCOL_AT 9
#define INNER_V6_NEXT_AT 6
#define UDP_PORT_AT 2
#define UDP 17
#define SRH 43
#define IN_IP_V4 4
#define IN_IP_V6 41

#define LOAD(width, at) \
	{ \
		.code = BPF_LD | BPF_ABS | (width), .imm = (at) \
	} // to register 0
#define LOAD_BEHIND(width, at) \
	{ \
		.code = BPF_LD | BPF_IND | (width), .src_reg = 7, .imm = (at) \
	} // the same, from register 7 on
#define IF(here, condition, value, to) \
	{ \
		.code = BPF_JMP | (condition) | BPF_K, .dst_reg = 0, .off = (to) - (here)-1, \
		.imm = (value) \
	}
#define JUMP(here, to) \
	{ \
		.code = BPF_JMP | BPF_JA, .off = (to) - (here)-1 \
	}
#define DO(what, to, value) \
	{ \
		.code = BPF_ALU64 | (what) | BPF_K, .dst_reg = (to), .imm = (value) \
	}
#define COPY(to, from) \
	{ \
		.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = (to), .src_reg = (from) \
	}
#define END \
	{ \
		.code = BPF_JMP | BPF_EXIT \
	}

// Where its parts begin.
enum { V6 = 10, INNER_V6 = 24, INNER_V4 = 28, ABOVE = 33, PORT = 34, PASS = 36, KEEP = 38 };

// A frame too short for a load passes, as the kernel has it. Register 7 is where what is above the
// outer IPv6 header begins: UDP, or with SRv6 an inner IP header, perhaps behind an SRH.
static const struct bpf_insn program[] = {
	[0] = COPY(6, 1), // loads are from there
	[1] = LOAD(BPF_H, TYPE_AT),
	[2] = IF(2, BPF_JEQ, 0x86dd, V6),
	[3] = IF(3, BPF_JNE, 0x0800, PASS),
	[4] = LOAD(BPF_B, V4_AT),
	[5] = IF(5, BPF_JNE, 0x45, PASS), // version 4, no options
	[6] = LOAD(BPF_B, V4_PROTOCOL_AT),
	[7] = IF(7, BPF_JNE, UDP, PASS),
	[8] = LOAD(BPF_H, V4_PORT_AT),
	[9] = JUMP(9, PORT),

	[V6] = LOAD(BPF_B, V6_NEXT_AT),
	[11] = DO(BPF_MOV, 7, V6_ABOVE_AT),
	[12] = IF(12, BPF_JEQ, UDP, ABOVE),
	[13] = IF(13, BPF_JEQ, IN_IP_V6, INNER_V6),
	[14] = IF(14, BPF_JEQ, IN_IP_V4, INNER_V4),
	[15] = IF(15, BPF_JNE, SRH, PASS),
	[16] = LOAD(BPF_B, V6_ABOVE_AT + 1),
	[17] = DO(BPF_LSH, 0, SRH_UNIT_SHIFT),
	[18] = DO(BPF_ADD, 0, V6_ABOVE_AT + (1 << SRH_UNIT_SHIFT)),
	[19] = COPY(7, 0),
	[20] = LOAD(BPF_B, V6_ABOVE_AT),
	[21] = IF(21, BPF_JEQ, IN_IP_V6, INNER_V6),
	[22] = IF(22, BPF_JEQ, IN_IP_V4, INNER_V4),
	[23] = JUMP(23, PASS),

	[INNER_V6] = LOAD_BEHIND(BPF_B, INNER_V6_NEXT_AT),
	[25] = IF(25, BPF_JNE, UDP, PASS),
	[26] = DO(BPF_ADD, 7, 40),
	[27] = JUMP(27, ABOVE),

	[INNER_V4] = LOAD_BEHIND(BPF_B, 0),
	[29] = IF(29, BPF_JNE, 0x45, PASS),
	[30] = LOAD_BEHIND(BPF_B, INNER_V4_PROTOCOL_AT),
	[31] = IF(31, BPF_JNE, UDP, PASS),
	[32] = DO(BPF_ADD, 7, 20),

	[ABOVE] = LOAD_BEHIND(BPF_H, UDP_PORT_AT),
	[PORT] = IF(PORT, BPF_JEQ, WIRE_PORT, KEEP), // either
	[35] = IF(35, BPF_JEQ, WIRE_PORT_OTHER, KEEP),
	[PASS] = DO(BPF_MOV, 0, PASS_ON),
	[37] = END,
	[KEEP] = DO(BPF_MOV, 0, DROP),
	[39] = END,
};

static int call(int command, union bpf_attr *about)
{
	long rc = syscall(SYS_bpf, command, about, sizeof(*about));
	return rc < 0 ? -errno : (int)rc;
}

int isolation_begin(const char *interface)
{
	union bpf_attr load, link;
	memset(&load, 0, sizeof(load));
	load.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	load.insns = (uintptr_t)program;
	load.insn_cnt = sizeof(program) / sizeof(*program);
	load.license = (uintptr_t) "Apache-2.0";
	int loaded = call(BPF_PROG_LOAD, &load);
	if (loaded < 0)
		return loaded;
	memset(&link, 0, sizeof(link));
	link.link_create.prog_fd = (uint32_t)loaded;
	link.link_create.target_ifindex = if_nametoindex(interface);
	link.link_create.attach_type = TCX_INGRESS;
	int linked = call(BPF_LINK_CREATE, &link);
	close(loaded); // the link has it
	return linked;
}
