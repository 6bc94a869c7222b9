// SPDX-License-Identifier: Apache-2.0

#include <weft/run/schedule.h>

#include <errno.h>

#include <weft/engine/engine.h>

int schedule_make(struct schedule *ret, const struct plan *plan, struct refusal *refusal)
{
	struct arena arena;
	ret->bytes = step_bytes(plan);
	ret->memory = memory_reserve(ret->bytes);
	if (ret->memory == NULL)
		return refuse(refusal, -ENODEV, "not enough memory for a schedule");
	arena_init(&arena, ret->memory, ret->bytes);
	int rc = step_create(&ret->step, &arena, plan, refusal);
	if (rc < 0)
		schedule_free(ret);
	return rc;
}

void schedule_free(struct schedule *schedule)
{
	memory_release(schedule->memory, schedule->bytes);
}

int schedule_expose(struct step_exposed *ret, const struct plan *plan,
		    const struct step_setup *setup, struct step_stage *stages,
		    struct refusal *refusal)
{
	struct schedule schedule;
	int rc = schedule_make(&schedule, plan, refusal);
	if (rc < 0)
		return rc;
	step_expose(schedule.step, setup, ret, stages);
	schedule_free(&schedule);
	return 0;
}
