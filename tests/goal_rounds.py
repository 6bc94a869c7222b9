# SPDX-License-Identifier: Apache-2.0
"""A GOAL program in which each rank has work of its own and waits for others: what culprits are looked for in."""


def rounds(ranks, shifts, compute_ns):
    """Each rank computes, passes a message on to the one `shift` behind it and waits for one, once for each shift."""
    lines = [f"num_ranks {ranks}"]
    for rank in range(ranks):
        lines.append(f"rank {rank} {{")
        for number, shift in enumerate(shifts):
            lines.append(f"c{number}: calc {compute_ns}")
            lines += [f"c{number} requires {word}{number - 1}" for word in "sr" if number > 0]
            lines.append(f"s{number}: send 400000b to {(rank + shift) % ranks} tag {number}")
            lines.append(f"s{number} requires c{number}")
            lines.append(f"r{number}: recv 400000b from {(rank - shift) % ranks} tag {number}")
        lines.append("}")
    return "\n".join(lines) + "\n"
