// SPDX-License-Identifier: Apache-2.0
// What a built fabric carries between pairs of NICs that send at the same time.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fabric_facts;

struct pair {
	uint32_t from, to;
};

struct carried {
	double share; // of a NIC's rate, all ports: what each pair has while all of them send
	double links; // cables on a way, on average
	bool is_even; // no pair could have more; false: those that meet no full link could
};

// Loads the links of a plane with `count` pairs, each of which sends `weight` of its NIC's rate:
// the ways as switches know them, in equal parts where several are equal. The fullest link says
// what each pair has; a pair that has one path gets no more than its slowest link. -EINVAL where no
// way leads from one NIC to the other, -ENOMEM.
int carry(struct carried *ret, const struct fabric_facts *fabric_facts, const struct pair *pairs,
	  uint32_t count, double weight);
