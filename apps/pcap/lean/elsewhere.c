// SPDX-License-Identifier: Apache-2.0
// The verbs that run a scenario or make keys: weft-pcap-whole has them, which lies beside this one,
// so that an analysis does not wait for libraries that it does not need.

#include <errno.h>

#include <weft/run/host_info.h>
#include <weft/run/outcome.h>

#include "verbs.h"

static int become_whole(char **argv)
{
	struct refusal refusal = {0};
	program_exec("weft-pcap-whole", argv - 1); // the whole line: the verb is argv[0]
	return outcome_refused(
		"pcap", &refusal,
		refuse(&refusal, -ENODEV,
		       "weft-pcap-whole, which does this, does not lie beside weft-pcap"));
}

int anonymize_run(int argc, char **argv)
{
	return become_whole(argv);
}

int gen_run(int argc, char **argv)
{
	return become_whole(argv);
}

int replay_run(int argc, char **argv)
{
	return become_whole(argv);
}
