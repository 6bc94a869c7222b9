#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The largest two-tier fabric is built and runs to its end, every packet of it, within the memory that it says.
set -euo pipefail
text=$("${WEFT:?}" sim clos-131072 --json 2>/dev/null)
python3 - "$text" <<'END'
import json
import sys
result = json.loads(sys.argv[1])
network, transport, speed = result["network"], result["transport"], result["speed"]
print(f"{network['nics']} NICs, {transport['data_packets']} packets, {speed['memory_peak_bytes'] / 2**30:.2f} GiB")
assert result["run"]["end"] == "done"
assert network["nics"] == 131072 and transport["messages_sent"] == 131072
assert speed["memory_peak_bytes"] < 5 * 2**30
END
