// SPDX-License-Identifier: Apache-2.0
// weft host --gpu: generators (weft gpu) make the gradients of this host's ranks, which leave
// through its ports.
#pragma once

#include "host.h"

// Whether the scenario has gradients, before anybody is met. -EINVAL with a reason.
int generator_check(struct call *call);

// Makes the link and waits for a generator of each rank. -ECONNRESET, -errno with a reason.
int generator_open(struct call *call);

// The world is built: its frames' payload lies in the link.
int generator_attach(struct call *call, const struct host_run *host_run,
		     struct ports_options *payload);

// Before each turn. A fn of struct wall_control.
bool generator_poll(void *call, struct wall *wall);

// Behind a run that was begun with generators: what they measured is in call->gpu.report.
void generator_finish(struct call *call, const struct host_run *host_run);

void generator_drop(struct call *call);
void generator_print(FILE *to, const struct call *call);
struct json_t *generator_json(const struct call *call); // null without one
