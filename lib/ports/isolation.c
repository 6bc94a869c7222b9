// SPDX-License-Identifier: Apache-2.0
// A program for the kernel at the entry of an interface, behind sockets of packets. See
// isolation.h. It is written here in the kernel's instructions, so that nothing is needed to make
// it.

#include "isolation.h"

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

// Offsets from the Ethernet header.
#define TYPE_AT 12
#define V4_AT 14
#define V4_PROTOCOL_AT 23
#define V4_PORT_AT 36 // behind 20 bytes of header
#define V6_NEXT_AT 20
#define V6_PORT_AT 56
#define UDP 17

#define LOAD(width, at) \
	{ \
		.code = BPF_LD | BPF_ABS | (width), .imm = (at) \
	} // to register 0
#define IF(condition, value, jump) \
	{ \
		.code = BPF_JMP | (condition) | BPF_K, .dst_reg = 0, .off = (jump), .imm = (value) \
	}
#define SET(value) \
	{ \
		.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = (value) \
	}
#define END \
	{ \
		.code = BPF_JMP | BPF_EXIT \
	}

// A frame too short for a load passes, as the kernel has it. Jumps count from the next line.
static const struct bpf_insn program[] = {
	{.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 6, .src_reg = 1}, // loads are from there
	LOAD(BPF_H, TYPE_AT),
	IF(BPF_JEQ, 0x86dd, 7),
	IF(BPF_JNE, 0x0800, 11),
	LOAD(BPF_B, V4_AT),
	IF(BPF_JNE, 0x45, 9), // version 4, no options
	LOAD(BPF_B, V4_PROTOCOL_AT),
	IF(BPF_JNE, UDP, 7),
	LOAD(BPF_H, V4_PORT_AT),
	{.code = BPF_JMP | BPF_JA, .off = 3},
	LOAD(BPF_B, V6_NEXT_AT), // where it is IPv6
	IF(BPF_JNE, UDP, 3),
	LOAD(BPF_H, V6_PORT_AT),
	IF(BPF_JEQ, WIRE_PORT, 3), // either
	IF(BPF_JEQ, WIRE_PORT_OTHER, 2),
	SET(PASS_ON),
	END,
	SET(DROP),
	END,
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
