// SPDX-License-Identifier: Apache-2.0
#include "sections/sections.h"

#include <weft/result/put.h>

void cc_settings_json(json_t *root, const struct report_input *input)
{
	struct cc_settings knobs;
	if (!cc_settings_of(&input->world->transport.cc, &knobs))
		return;
	json_t *to = object_in(root, "mrc_ctl");
	put(to, "disable_qa", json_boolean(knobs.disable_qa));
	put_count(to, "adjust_bytes_threshold", knobs.adjust_bytes_threshold);
	put_count(to, "adjust_period_threshold", knobs.adjust_period_threshold_ns);
	put_count(to, "base_rtt", knobs.base_rtt_ns);
	put_real(to, "eta", knobs.eta);
	put_real(to, "fi", knobs.fi);
	put_real(to, "fi_scale", knobs.fi_scale);
	put_real(to, "gamma", knobs.gamma);
	put_real(to, "max_md_jump", knobs.max_md_jump);
	put_count(to, "max_cwnd", knobs.max_cwnd);
	put_count(to, "qa_gate", knobs.qa_gate);
	if (knobs.qa_threshold_ns == 0)
		put(to, "qa_threshold", json_null());
	else
		put_count(to, "qa_threshold", knobs.qa_threshold_ns);
	put_count(to, "target_delay", knobs.target_delay_ns);
}
