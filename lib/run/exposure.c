// SPDX-License-Identifier: Apache-2.0
// The step of a plan by closed form. What it runs on is a scenario of the plan's own site: so many
// domains, each rank with a NIC.

#include <weft/run/schedule.h>

#include <inttypes.h>
#include <stdio.h>

#include <weft/scenario/scenario.h>
#include <weft/world/world_step.h>

static bool is_known(struct exposure *exposure, const struct plan *plan)
{
	const struct site *site = &plan->site;
	if (site->nic_bps > 0 && (site->domain_Bps > 0 || site->domain == 1))
		return true;
	snprintf(exposure->why_not.text, sizeof(exposure->why_not.text),
		 "its file has no times.device, and no domain.rate and domain.nic_rate");
	return false;
}

// The fabric that a job's file speaks of, as far as a closed form asks for it.
static void take_site(struct scenario *scenario, const struct plan *plan, uint32_t domain)
{
	scenario_defaults(scenario);
	scenario->fabric.nics = plan_ranks(plan);
	scenario->fabric.nics_per_host = domain;
	scenario->fabric.planes = 1;
	scenario->fabric.link_rate_bps = plan->site.nic_bps;
	scenario->scaleup.rate_bps = plan->site.domain_Bps * 8;
	scenario->scaleup.delay_ps = PS_PER_US;
	scenario->traffic.kind = TRAFFIC_MODEL;
	scenario->traffic.has_auto_channels = true;
	scenario_take_plan(scenario, plan);
}

ps_t exposure_ps(const struct exposure *exposure)
{
	return exposure->times.with.step_ps - exposure->times.without.step_ps;
}

// What each dimension adds that leaves its domain; replicas have the rest.
static int split(struct exposure *ret, const struct world_step *step)
{
	static const enum dimension dimensions[] = {DIMENSION_TP, DIMENSION_CP, DIMENSION_EP,
						    DIMENSION_PP};
	ps_t left = exposure_ps(ret);
	for (uint32_t i = ANSWER_TP; i <= ANSWER_PP; i++) {
		struct step_setup setup;
		struct step_exposed times;
		if (!world_step_inside(step, dimensions[i], &setup))
			continue;
		int rc = schedule_expose(&times, &step->plan, &setup, NULL, &ret->why_not);
		if (rc < 0)
			return rc;
		ret->by[i] = ret->times.with.step_ps - times.with.step_ps;
		left -= ret->by[i];
	}
	ret->by[ANSWER_DP] = left;
	return 0;
}

void exposure_find(struct exposure *ret, const struct plan *plan, const char *order,
		   uint32_t domain)
{
	static struct scenario scenario; // large
	static struct world_step step;
	struct refusal *why_not = &ret->why_not;
	*ret = (struct exposure){0};
	if (!is_known(ret, plan))
		return;
	take_site(&scenario, plan, domain < plan_ranks(plan) ? domain : plan_ranks(plan));
	if (world_step(&step, &scenario, order, why_not) < 0 ||
	    schedule_expose(&ret->times, &step.plan, &step.setup, NULL, why_not) < 0)
		return;
	(void)split(ret, &step);
}

bool exposure_other_site(const struct world_step *world, char *text, size_t bytes)
{
	const struct site *site = &world->plan.site;
	bool has_nics = site->nic_bps > 0 && site->nic_bps / 8 != world->nic_Bps;
	bool has_domain = site->domain > 0 && site->domain != world->gpu_layout.gpus_per_domain;
	char nics[64] = "", domain[64] = "";
	if (has_nics)
		snprintf(nics, sizeof(nics), "NICs of %.2f GB/s", (double)site->nic_bps / 8e9);
	if (has_domain)
		snprintf(domain, sizeof(domain), "domains of %" PRIu32, site->domain);
	snprintf(text, bytes,
		 "this fabric's NICs and domains count; the job's file has %s%s%s, which weft plan "
		 "takes",
		 nics, has_nics && has_domain ? " and " : "", domain);
	return has_nics || has_domain;
}
