"""Charts of horizontal bars, which `mini plot` draws.

    ratios     for each case of a section one bar per peer: the peer's figure divided by libmini's,
               on a logarithmic axis; a thin line spans from the lowest to the highest round
    profile    for each part of a step the time of its forward and its backward pass, and its floor
"""

from bench.sections import OURS


def times(ratio):
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def ratios(title, groups):
    """Returns the chart of a section. `groups`: [(case, {series: {"median", "low", "high"}})]."""
    series = []
    for name in dict.fromkeys(name for _, bars in groups for name in bars):
        found = [bars.get(name) for _, bars in groups]
        series.append({"name": name, "values": [ratio and ratio["median"] for ratio in found],
                       "spreads": [ratio and [ratio["low"], ratio["high"]] for ratio in found],
                       "texts": [times(ratio["median"]) if ratio else "" for ratio in found]})
    return {"type": "bar", "title": title, "groups": [case for case, _ in groups],
            "axis": {"label": "how many times as much as libmini", "log": True}, "base": 1,
            "horizontal": True, "series": series}


def profile(title, found):
    """Returns the chart of a profile: a bar per part, and a mark at the part's floor."""
    rows = found["rows"]
    return {"type": "bar", "title": title, "groups": [part["part"] for part in rows],
            "axis": "microseconds", "horizontal": True,
            "series": [{"name": "forward, or no direction", "stack": "a part",
                        "values": [part["forward_us"] for part in rows],
                        "texts": [f"{part['us']:.0f}" for part in rows]},
                       {"name": "backward", "stack": "a part",
                        "values": [part["backward_us"] or None for part in rows]}],
            "marks": [{"name": "the floor of arithmetic and bytes",
                       "values": [part["floor_us"] for part in rows]}]}


def groups_of(results):
    """Returns the bars of the cases of one section: the ratios to libmini, not those to a limit or to
    a step without communication. If libmini has several figures (shared memory, TCP), a bar is named
    by its ratio."""
    wanted = {}
    for result in results:
        name = result["case"] if result["valid"] else f"{result['case']} (not valid)"
        wanted[name] = [ratio for ratio in result["ratios"] if ratio["to"] in OURS]
    several = len({ratio["to"] for ratios in wanted.values() for ratio in ratios}) > 1
    return [(case, {f"{ratio['of']} / {ratio['to']}" if several else ratio["of"]: ratio
                    for ratio in ratios})
            for case, ratios in wanted.items() if ratios]
