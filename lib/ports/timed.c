// SPDX-License-Identifier: Apache-2.0
// See timed.h.

#define ALLOW_EXPERIMENTAL_API // rte_eth_read_clock()
#include "timed.h"

#include <stdio.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf_dyn.h>

#define READINGS 16
#define STEP_US 2000
#define BOUND_NS 1000 // by which both clocks may differ

uint64_t timed_offload(struct timed *timed, const char *driver, uint64_t capable)
{
	*timed = (struct timed){.why_not = "the clock of the device was not read"};
	if ((capable & RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP) != 0)
		return RTE_ETH_TX_OFFLOAD_SEND_ON_TIMESTAMP;
	snprintf(timed->why_not, sizeof(timed->why_not), "%s sends nothing at a given time",
		 driver);
	return 0;
}

static bool read_clock(const struct timed_field *field, uint16_t port, struct clock_reading *ret)
{
	ret->before_ns = field->clock(field->context);
	int rc = rte_eth_read_clock(port, &ret->ticks);
	ret->after_ns = field->clock(field->context);
	return rc == 0;
}

static void judge(struct timed *timed, bool agrees)
{
	char words[96];
	timed->is_on = agrees;
	timed->why_not[0] = '\0';
	if (agrees)
		return;
	device_clock_describe(&timed->clock, words, sizeof(words));
	snprintf(timed->why_not, sizeof(timed->why_not), "the clock of the device %s", words);
}

void timed_check(struct timed *timed, const struct timed_field *field, uint16_t port)
{
	struct clock_reading reading;
	if (timed->is_on && read_clock(field, port, &reading))
		judge(timed, device_clock_check(&timed->clock, &reading));
}

void timed_begin(struct timed *timed, struct timed_field *field, uint16_t port)
{
	struct clock_reading readings[READINGS];
	uint32_t count = 0;
	if (!timed->is_asked)
		return;
	for (int i = 0; i < READINGS; i++) {
		count += read_clock(field, port, &readings[count]);
		usleep(STEP_US);
	}
	if (count == 0)
		snprintf(timed->why_not, sizeof(timed->why_not), "the device has no clock to read");
	else if (field->flag == 0 &&
		 rte_mbuf_dyn_tx_timestamp_register(&field->at, &field->flag) != 0)
		snprintf(timed->why_not, sizeof(timed->why_not), "no field for times in frames: %s",
			 rte_strerror(rte_errno));
	else
		judge(timed, device_clock_fit(&timed->clock, readings, count, BOUND_NS));
}
