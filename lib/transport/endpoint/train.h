// SPDX-License-Identifier: Apache-2.0
// Packets of data that leave one behind the other.
#pragma once

#include "endpoint.h"

// endpoint_next_train(), when there is no control, and no port has work.
ps_t train_send(struct endpoint *endpoint, const struct train *train, struct outbox *out);
