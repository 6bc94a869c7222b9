// SPDX-License-Identifier: Apache-2.0
// Sizes on the line where the scenario says none.
#include "scenario_reader.h"

// Bytes on the line that are no payload: MRC's nominal ones, and those of RoCEv2's frames, preamble
// and gap (20), Ethernet (14) and its check (4), IP, UDP (8), BTH (12), of an ACK AETH (4), and
// ICRC (4). A RETH, which the first packet of a message has besides, is not counted.
void reader_settle_sizes(struct reader *reader)
{
	struct scenario *scenario = reader->scenario;
	struct transport_config *transport = &scenario->transport;
	bool is_rc = transport->kind == TRANSPORT_RC;
	uint32_t rc_bytes = scenario->frames.ip_version == 4 ? 82 : 102;
	scenario->has_auto_header = transport->header_bytes == 0;
	scenario->has_auto_control = transport->control_bytes == 0;
	if (scenario->has_auto_header)
		transport->header_bytes = is_rc ? rc_bytes : 162;
	if (scenario->has_auto_control)
		transport->control_bytes = is_rc ? rc_bytes + 4 : 178;
}
