// SPDX-License-Identifier: Apache-2.0
#include "sections/sections.h"

#include <weft/result/put.h>

void cc_settings_json(json_t *root, const struct report_input *input)
{
	struct cc_settings settings;
	if (!cc_settings_of(&input->world->transport.cc, &settings))
		return;
	json_t *to = object_in(root, "mrc_ctl");
	put(to, "disable_qa", json_boolean(settings.disable_qa));
	put_count(to, "adjust_bytes_threshold", settings.adjust_bytes_threshold);
	put_count(to, "adjust_period_threshold", settings.adjust_period_threshold_ns);
	put_count(to, "base_rtt", settings.base_rtt_ns);
	put_real(to, "eta", settings.eta);
	put_real(to, "fi", settings.fi);
	put_real(to, "fi_scale", settings.fi_scale);
	put_real(to, "gamma", settings.gamma);
	put_real(to, "max_md_jump", settings.max_md_jump);
	put_count(to, "max_cwnd", settings.max_cwnd);
	put_count(to, "qa_gate", settings.qa_gate);
	if (settings.qa_threshold_ns == 0)
		put(to, "qa_threshold", json_null());
	else
		put_count(to, "qa_threshold", settings.qa_threshold_ns);
	put_count(to, "target_delay", settings.target_delay_ns);
}
