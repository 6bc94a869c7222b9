#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole Azure step with collectives by packets, as it is shipped: on an ideal fabric exposed time is within 3 % of the
closed forms; on the real one headers and SACKs explain the rest but for 3 %. In the step of a100-4096 rings wait for credits, which add
a third and more to the closed forms: with credits in them these explain the packets within 3 %."""
import json
import sys

import weft

done = weft.run("sim", "azure-gb200-llama405b", "--fidelity", "sample", "--explain", "--json", check=True)
result = json.loads(done.stdout)
step, ideal, terms = result["step"], result["ideal"], result["terms"]
explained = ideal["exposed_ps"] + terms["with_sacks_ps"] - terms["with_credits_ps"]
failed = 0
for what, off in (("ideal", ideal["exposed_ps"] / terms["closed_ps"] - 1), ("real", step["exposed_ps"] / explained - 1)):
    print(f"{what}: {off:+.2%}")
    failed += abs(off) >= 0.03

done = weft.run("sim", "a100-4096", "--fidelity", "sample", "--json", check=True)
other = json.loads(done.stdout)
off = other["step"]["exposed_ps"] / other["terms"]["with_sacks_ps"] - 1
share = other["terms"]["with_credits_ps"] / other["terms"]["with_latency_ps"] - 1
print(f"credits add {share:+.2%}, and packets {off:+.2%}")
failed += abs(off) >= 0.03 or share < 0.3
print(f"exposed {step['exposed_ps'] / 1e9:.3f} ms +- {step['exposed_error_ps'] / 1e9:.3f}, {step['packets']} packets")
sys.exit(1 if failed else 0)
