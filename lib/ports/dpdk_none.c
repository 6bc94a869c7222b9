// SPDX-License-Identifier: Apache-2.0
// DPDK in a build that has none: says so.

#include <errno.h>

#include <weft/ports/ports.h>

#include <weft/core/check.h>
#include <weft/ports/device.h>
#include <weft/ports/port.h>
#include <weft/ports/telemetry.h>

static int refuse_dpdk(struct refusal *refusal)
{
	return refuse(refusal, -ENOTSUP,
		      "this weft was built without DPDK; --ports memory carries the same frames");
}

uint32_t ports_ring_max(void)
{
	return 0;
}

uint32_t ports_ring_queues(void)
{
	return 0;
}

void dpdk_stop(void)
{
}

int64_t dpdk_clock_ns(void *context)
{
	(void)context;
	check(false && "a build without DPDK has no clock of DPDK's");
	return 0;
}

void dpdk_run(void (*fn)(void *), void *const *contexts, uint32_t count)
{
	check(count == 1);
	fn(contexts[0]);
}

int port_dpdk_open(struct ports *ports, struct arena *arena, const struct dpdk_options *options,
		   struct refusal *refusal)
{
	(void)ports;
	(void)arena;
	(void)options;
	return refuse_dpdk(refusal);
}

int port_device_open(struct ports *ports, struct arena *arena, const struct device *devices,
		     uint32_t count, const struct dpdk_options *options, struct refusal *refusal)
{
	(void)ports;
	(void)arena;
	(void)devices;
	(void)count;
	(void)options;
	return refuse(refusal, -ENOTSUP, "this weft was built without DPDK, which this port needs");
}

int port_device_settle(const struct ports *ports, struct refusal *refusal)
{
	(void)ports;
	return refuse_dpdk(refusal);
}

bool port_device_lend(struct ports *ports, void *memory, uint64_t bytes, char why[DEVICE_WHY_BYTES])
{
	(void)ports;
	(void)memory;
	(void)bytes;
	why[0] = '\0';
	return false;
}

void port_device_recall(struct ports *ports)
{
	(void)ports;
}

uint64_t port_device_lent(const struct ports *ports)
{
	(void)ports;
	return 0;
}

bool port_device_is_up(const struct ports *ports, uint32_t index)
{
	(void)ports;
	(void)index;
	return false;
}

int telemetry_serve(const char *command, const char *help, telemetry_fn *fn)
{
	(void)command;
	(void)help;
	(void)fn;
	return -ENODEV;
}

bool port_device_mac(const struct ports *ports, uint32_t index, uint8_t ret[6])
{
	(void)ports;
	(void)index;
	(void)ret;
	return false;
}

uint32_t port_device_time(struct ports *ports, pace_clock_fn *clock, void *context)
{
	(void)ports;
	(void)clock;
	(void)context;
	return 0;
}

const char *port_device_untimed(const struct ports *ports, uint32_t index,
				struct device_clock *ret_clock)
{
	(void)ports;
	(void)index;
	*ret_clock = (struct device_clock){0};
	return "";
}

const char *port_device_takes_all(const struct ports *ports, uint32_t index)
{
	(void)ports;
	(void)index;
	return "";
}

void port_device_facts(const struct ports *ports, uint32_t index, struct device_facts *ret)
{
	(void)ports;
	(void)index;
	(void)ret;
	check(false && "a build without DPDK opens no device");
}
