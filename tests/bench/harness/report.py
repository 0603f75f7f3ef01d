"""Rows to tables: on the terminal and in results/<machine>.md."""

PEERS = ["numpy", "numexpr", "numba", "jax"]


def duration(seconds):
    if seconds is None:
        return ""
    for scale, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")):
        if seconds >= scale:
            break
    value = seconds / scale
    return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.1f} {unit}" if value >= 9.95 else f"{value:.2f} {unit}"


def cell(result):
    """A time, or why there is none."""
    if result is None:
        return "–"
    return duration(result["best"]) if "best" in result else result["failed"]


def best_peer(row):
    times = {peer: row["results"][peer]["best"] for peer in PEERS if "best" in (row["results"].get(peer) or {})}
    return min(times.items(), key=lambda item: item[1]) if times else None


def columns(row):
    ours = row["results"].get("gasell") or {"failed": "–"}
    out = [row["title"], cell(ours)] + [cell(row["results"].get(peer)) for peer in PEERS]
    peer = best_peer(row)
    if "best" not in ours:
        return out + ["", "", ""]
    numpy = row["results"].get("numpy") or {}
    out.append(f"{peer[1] / ours['best']:.2f} ({peer[0]})" if peer else "")
    out.append(f"{numpy['best'] / ours['best']:.1f}" if "best" in numpy else "")
    out.append(f"{100 * row['floor'] / ours['best']:.0f} %" if row.get("floor") else "")
    return out


STEADY_HEADER = ["case", "gasell", *PEERS, "best peer / gasell", "NumPy / gasell", "% of floor"]
FIRST_HEADER = ["first call, cold", "gasell", "numba", "jax", "sooner than the better"]


def first_columns(row):
    first = {program: (row["results"].get(program) or {}).get("first") for program in ("gasell", "numba", "jax")}
    others = [first[p] for p in ("numba", "jax") if first[p] is not None]
    ratio = f"{min(others) / first['gasell']:.1f}" if others and first["gasell"] else ""
    return [row["title"], *(duration(first[p]) for p in ("gasell", "numba", "jax")), ratio]


def text_table(header, lines):
    widths = [max(len(str(line[k])) for line in [header, *lines]) for k in range(len(header))]
    rule = "  ".join("-" * width for width in widths)
    layout = lambda line: "  ".join(str(item).ljust(widths[k]) if k == 0 else str(item).rjust(widths[k]) for k, item in enumerate(line))
    return "\n".join([layout(header), rule, *(layout(line) for line in lines)])


def markdown_table(header, lines):
    escape = lambda item: str(item).replace("|", "\\|")
    out = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(out + ["| " + " | ".join(map(escape, line)) + " |" for line in lines])


def geometric_mean(values):
    product = 1.0
    for value in values:
        product *= value ** (1 / len(values))
    return product


def summary(rows):
    ratios, numpy_ratios = [], []
    for row in rows:
        ours, peer = (row["results"].get("gasell") or {}).get("best"), best_peer(row)
        numpy = (row["results"].get("numpy") or {}).get("best")
        if ours and peer:
            ratios.append(peer[1] / ours)
        if ours and numpy:
            numpy_ratios.append(numpy / ours)
    if not ratios:
        return ""
    behind = sum(ratio < 0.8 for ratio in ratios)
    return (f"Geometric mean over {len(ratios)} cases: {geometric_mean(ratios):.2f} times the best peer, {geometric_mean(numpy_ratios):.2f} times NumPy; "
            f"{behind} below 0.8 of the best peer.")


def markdown(rows, facts, command):
    lines = ["# Benchmark results", "", f"Made by `{command}`; how to read it: [docs/benchmarks.md](../../../docs/benchmarks.md).", ""]
    lines += [f"- {key}: {value}" for key, value in facts.items()]
    lines += ["", "## Steady", "", "Best time of one evaluation. A ratio above 1: Gasell is faster. Floor: the bytes that must move over the measured bandwidth.", ""]
    lines += [markdown_table(STEADY_HEADER, [columns(row) for row in rows]), "", summary(rows), ""]
    first = [row for row in rows if "first" in (row["results"].get("gasell") or {})]
    if first:
        lines += ["## First call", "", "From the first evaluation in a process to its result, kernel caches off.", ""]
        lines += [markdown_table(FIRST_HEADER, [first_columns(row) for row in first]), ""]
    notes = [f"- {row['title']}: {row['note']}" for row in rows if row.get("note")]
    if notes:
        lines += ["## Notes", "", *notes, ""]
    return "\n".join(lines)
