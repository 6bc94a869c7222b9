// SPDX-License-Identifier: Apache-2.0
// The QPs of a host and their entropy values as they stand, for who looks on.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct world_host;

struct host_qp {
	uint32_t nic, qpn, remote_nic;
	uint32_t window_bytes, flight_bytes, psns_lost;
	uint32_t evs_good, evs_bad; // assumed bad, or denied
	bool is_error;
};

struct host_ev {
	uint32_t ev, state; // enum ev_state
};

// QPs are counted over the host's NICs in turn.
uint32_t host_qps(const struct world_host *host);

// False: there are not so many.
bool host_qp(const struct world_host *host, uint32_t index, struct host_qp *ret);

// EVs of a QP from number `first` on, at most `max`. Returns how many the QP has; 0: no such QP.
uint32_t host_evs(const struct world_host *host, uint32_t index, uint32_t first,
		  struct host_ev *ret, uint32_t max, uint32_t *ret_count);

#ifdef __cplusplus
}
#endif
