// SPDX-License-Identifier: Apache-2.0
// What kernels.cuh says in a device's instructions, for the host's compiler: see cuda_runtime.h.
#pragma once

static inline long long timer_ns(void)
{
	return host_device_timer_ns();
}

static inline unsigned load_system(const unsigned *at)
{
	std::this_thread::yield(); // others may have the only core
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static inline void store_system(unsigned *at, unsigned value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static inline long long load_offset(const long long *at)
{
	return __atomic_load_n(at, __ATOMIC_RELAXED);
}
