// SPDX-License-Identifier: Apache-2.0
// Presets as data: what each sets, and where that comes from. docs/scenario.md lists the rows; a
// test compares.

#include "scenario_presets.h"

#include <stdio.h>
#include <string.h>

#include "scenario_reader.h"
#include "scenario_words.h"

#define DCQCN (1u << PRESET_ROCE_DCQCN)
#define PFC (1u << PRESET_ROCE_PFC)
#define UEC (1u << PRESET_UEC)
#define PLUGIN (1u << PRESET_MRC_NCCL_PLUGIN)
#define ROCE (DCQCN | PFC)
#define MRC (1u << PRESET_MRC | PLUGIN)
#define SPRAYED (MRC | UEC)
#define VENDOR "default of NVIDIA adapters (public list of DCQCN parameters)"
#define HPCC "in production, by the authors of HPCC, who scale it with the line"

// presets, key, value, whether it grows with the line, origin, source. The transport comes first.
const struct preset_row preset_rows[] = {
	{ROCE, "transport.kind", "rc", false, INPUT_FACT, "RoCEv2's reliable connection"},
	{ROCE, "transport.qps_per_connection", "4", false, INPUT_FACT,
	 "NCCL_IB_QPS_PER_CONNECTION 4 of a cloud's RoCE clusters; NCCL's default is 1"},
	{ROCE, "queue.pfc", "true", false, INPUT_FACT,
	 "RoCEv2 repairs losses by going back, so its fabrics are lossless"},
	{ROCE, "queue.pfc_xoff", "250kB", true, INPUT_ASSUMED,
	 "1 MB of an in-port at 100 Gb/s: the marks of a queue that two share come first"},
	{DCQCN, "cc.algorithm", "dcqcn", false, INPUT_FACT, "DCQCN (Zhu et al., SIGCOMM 2015)"},
	{DCQCN, "queue.ecn", "true", false, INPUT_FACT, "DCQCN works on marks"},
	{DCQCN, "queue.ecn_last_hop", "true", false, INPUT_FACT,
	 "RoCE fabrics mark at every port; an incast is slowed by nothing else"},
	{DCQCN, "queue.ecn_low", "100kB", true, INPUT_FACT, "Kmin " HPCC},
	{DCQCN, "queue.ecn_high", "400kB", true, INPUT_FACT, "Kmax " HPCC},
	{DCQCN, "queue.ecn_share", "20%", false, INPUT_FACT,
	 "Pmax in production, by the authors of HPCC"},
	{DCQCN, "transport.cnp_interval", "50us", false, INPUT_FACT,
	 "SIGCOMM 2015; here every CNP cuts"},
	{DCQCN, "cc.alpha_timer", "1us", false, INPUT_FACT, VENDOR},
	{DCQCN, "cc.rate_timer", "300us", false, INPUT_FACT, VENDOR},
	{DCQCN, "cc.rate_bytes", "32767B", false, INPUT_FACT, VENDOR},
	{DCQCN, "cc.recovery_rounds", "1", false, INPUT_FACT, VENDOR},
	{DCQCN, "cc.rate_ai", "5Mb/s", true, INPUT_FACT,
	 VENDOR ", scaled as HPCC's simulator does"},
	{DCQCN, "cc.rate_hai", "50Mb/s", true, INPUT_FACT,
	 VENDOR ", scaled as HPCC's simulator does"},
	{PFC, "cc.algorithm", "fixed", false, INPUT_FACT,
	 "no control but PFC, as published for a training cluster at 400 Gb/s"},
	{PFC, "cc.window", "16MiB", false, INPUT_FACT,
	 "RoCEv2 has no window: larger than any line fills"},
	{PFC, "queue.ecn", "false", false, INPUT_FACT, "nothing would read the marks"},
	{SPRAYED, "transport.kind", "mrc", false, INPUT_FACT, "OCP MRC 1.0, also in UET's place"},
	{SPRAYED, "cc.algorithm", "nscc", false, INPUT_FACT, "NSCC, which MRC and UE 1.0 name"},
	{SPRAYED, "queue.pfc", "false", false, INPUT_FACT,
	 "MRC and UE repair losses packet by packet"},
	{SPRAYED, "queue.trim", "true", false, INPUT_FACT,
	 "full queues trim, NACKs bring it again (MRC 1.0, UE 1.0)"},
	{SPRAYED, "queue.ecn", "true", false, INPUT_FACT,
	 "NSCC and the choice of paths work on marks"},
	{SPRAYED, "queue.ecn_last_hop", "false", false, INPUT_FACT,
	 "MRC's practice; UE recommends it beside credits"},
	{MRC, "transport.path", "mrc", false, INPUT_FACT,
	 "rotates over all paths, passing over marked and lost ones (OCP MRC 1.0)"},
	{UEC, "transport.path", "reps", false, INPUT_FACT,
	 "REPS, the load balancing that UE's authors describe"},
	{UEC, "transport.rtt", "once", false, INPUT_FACT,
	 "UE 1.0: no round trip of what was retransmitted twice"},
	{UEC, "cc.context", "destination", false, INPUT_FACT,
	 "UE 1.0: one window for all that goes to a destination"},
	{UEC, "transport.header", "114B", false, INPUT_ASSUMED,
	 "IPv6 without source routing; MRC's endpoint stands for UET's"},
	{UEC, "transport.control", "110B", false, INPUT_ASSUMED, "the same headers before a SACK"},
	{UEC, "queue.trim_bytes", "94B", false, INPUT_ASSUMED, "the same headers without payload"},
	{PLUGIN, "transport.rto", "1073.741824ms", false, INPUT_FACT,
	 "NCCL_MRC_TIMEOUT 20: 1.024 us x 2^20 (mrc-nccl-plugin 0.1.1)"},
	{PLUGIN, "transport.rto_linear", "7", false, INPUT_FACT,
	 "NCCL_MRC_RETRY_CNT_LINEAR 7 (mrc-nccl-plugin 0.1.1)"},
	{PLUGIN, "transport.rto_doublings", "25", false, INPUT_FACT,
	 "NCCL_MRC_RETRY_CNT_EXP 25, for ever (mrc-nccl-plugin 0.1.1)"},
	{0, NULL, NULL, false, INPUT_FACT, NULL},
};

bool preset_has(uint32_t preset, const struct preset_row *row)
{
	return (row->presets >> preset & 1) != 0;
}

const char *preset_name(uint32_t preset)
{
	return preset_words[preset];
}

void reader_preset_reason(const struct reader *reader, const char *text, char *ret, uint32_t size)
{
	const struct scenario_key *keys = scenario_keys();
	size_t used = 0;
	ret[0] = '\0';
	for (int i = 0; keys[i].path != NULL && used < size; i++) {
		const char *at = strstr(text, keys[i].path);
		char end = at == NULL ? '_' : at[strlen(keys[i].path)];
		bool is_whole = (end < 'a' || end > 'z') && end != '_';
		if (!reader->is_preset[i] || !is_whole)
			continue;
		used += (size_t)snprintf(ret + used, size - used, "%s%s",
					 used == 0 ? "; preset " : ", ",
					 used == 0 ? preset_name(reader->scenario->preset) : "");
		if (used < size)
			used += (size_t)snprintf(ret + used, size - used, " sets %s", keys[i].path);
	}
}
