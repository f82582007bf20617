"""The profile of a training step: the time of each layer, and its floor.

    floor = max(floating-point operations / peak, time of copying half of the bytes)

bench_worker measures all of them. The profile is valid if the named parts (all but "rest") add up
to SHARE of the step, if the marks between the layers cost at most 1 - SHARE of it, and if the
profiled layers have the loss of nn::ConvNet.
"""

SHARE = 0.95


def table(answer):
    """Returns a profile of bench_worker as one row per layer: forward and backward together with
    their floors in microseconds."""
    rows = {}
    for part in answer["parts"]:
        row = rows.setdefault(part["name"], {"part": part["name"], "forward_us": 0.0,
                                             "backward_us": 0.0, "floor_us": 0.0})
        row["backward_us" if part["direction"] == "backward" else "forward_us"] += part["us"]
        row["floor_us"] += max(part["flops_us"], part["bytes_us"])
    for row in rows.values():
        row["us"] = row["forward_us"] + row["backward_us"]
        row["over_floor"] = row["us"] / row["floor_us"] if row["floor_us"] else None
    return list(rows.values())


def figures(answer, noise):
    """Returns the result of one profile as it is written to the JSON file."""
    rows = table(answer)
    marked = sum(row["us"] for row in rows)
    named = marked - next(row["us"] for row in rows if row["part"] == "rest")
    result = {
        "batch": answer["batch"], "step_us": answer["step_us"], "marked_step_us": marked,
        "accounted": named / marked, "floor_us": sum(row["floor_us"] for row in rows),
        "peak_gflops": answer["peak_gflops"], "rows": rows,
    }
    result["why_not"] = why_not(result, answer["same_loss"], noise)
    result["valid"] = not result["why_not"]
    return result


def why_not(result, same_loss, noise):
    if not same_loss:
        return "the profiled layers and nn::ConvNet have different losses: update layer_times.cpp"
    if not noise.is_quiet():
        return str(noise)
    if result["accounted"] < SHARE:
        return f"the named parts are only {result['accounted']:.0%} of the step"
    if abs(result["marked_step_us"] / result["step_us"] - 1) > 1 - SHARE:
        return (f"the step takes {result['marked_step_us']:.0f} us with marks and "
                f"{result['step_us']:.0f} us without them")
    return ""
