// SPDX-License-Identifier: Apache-2.0
// A traffic matrix of 16 NICs whose connections wait for others, here and at other NICs: chains
// round the ring as htsim's generator makes them (the next step is started where the last one was
// sent from), a barrier over the ends of all chains that starts one flow at each NIC, and a
// multishot. What a scenario of these tests finds behind traffic.matrix.
#pragma once

#include <stdarg.h>
#include <stdio.h>

#define RIG_MATRIX_NICS 16u
#define RIG_MATRIX_CHAINS 4u
#define RIG_MATRIX_STEPS 12u // of a chain
#define RIG_MATRIX_BYTES 16384

__attribute__((format(printf, 3, 4))) static size_t rig_matrix_add(char *text, size_t used,
								   const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = vsnprintf(text + used, RIG_MATRIX_BYTES - used, format, arguments);
	va_end(arguments);
	return used + (size_t)length;
}

// Step k of a chain is from NIC begin + k to the next; trigger chain * (steps - 1) + k starts it.
static size_t rig_matrix_chain(char *text, size_t used, uint32_t chain, uint32_t bytes)
{
	uint32_t first = chain * (RIG_MATRIX_STEPS - 1), barrier = 1 + 4 * (RIG_MATRIX_STEPS - 1);
	for (uint32_t k = 0; k < RIG_MATRIX_STEPS; k++) {
		uint32_t from = (4 * chain + k) % RIG_MATRIX_NICS;
		used = rig_matrix_add(text, used, "%u->%u size %u %s %u", from,
				      (from + 1) % RIG_MATRIX_NICS, bytes,
				      k == 0 ? "start" : "trigger", k == 0 ? 0 : first + k);
		if (k + 1 < RIG_MATRIX_STEPS)
			used = rig_matrix_add(text, used, " send_done_trigger %u\n", first + k + 1);
		else
			used = rig_matrix_add(text, used, " recv_done_trigger %u\n", barrier);
	}
	return used;
}

// It holds until the next call.
__attribute__((unused)) static const char *rig_matrix(uint32_t bytes)
{
	static char text[RIG_MATRIX_BYTES];
	uint32_t oneshots = RIG_MATRIX_CHAINS * (RIG_MATRIX_STEPS - 1);
	size_t used = rig_matrix_add(
		text, 0, "Nodes %u\nConnections %u\nTriggers %u\n", RIG_MATRIX_NICS,
		RIG_MATRIX_CHAINS * RIG_MATRIX_STEPS + RIG_MATRIX_NICS + 6, oneshots + 2);
	for (uint32_t chain = 0; chain < RIG_MATRIX_CHAINS; chain++)
		used = rig_matrix_chain(text, used, chain, bytes);
	for (uint32_t i = 0; i < RIG_MATRIX_NICS; i++) // the barrier's
		used = rig_matrix_add(text, used, "%u->%u trigger %u size %u\n", i,
				      (i + 5) % RIG_MATRIX_NICS, oneshots + 1, bytes);
	for (uint32_t i = 1; i <= 3; i++) // the multishot's: two at other NICs, one at its own
		used = rig_matrix_add(text, used,
				      "2->%u start %u size %u send_done_trigger %u\n"
				      "%u->11 trigger %u size %u\n",
				      i + 2, 1000 * i, bytes / i, oneshots + 2, i == 2 ? 2 : 5 + i,
				      oneshots + 2, bytes);
	for (uint32_t i = 1; i <= oneshots; i++)
		used = rig_matrix_add(text, used, "trigger id %u oneshot\n", i);
	used = rig_matrix_add(text, used,
			      "trigger id %u barrier count %u\ntrigger id %u multishot\n",
			      oneshots + 1, RIG_MATRIX_CHAINS, oneshots + 2);
	return used < sizeof(text) ? text : NULL;
}
