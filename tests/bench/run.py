#!/usr/bin/env python3
"""Times Gasell against NumPy, numexpr, Numba and JAX on this machine, checks the results, and writes results/<machine>.md.

    tests/bench/run.py                     every case
    tests/bench/run.py sum small           cases whose name contains one of these
    tests/bench/run.py --full              also the sizes that take minutes (2 TB of random numbers, a 4 GiB file)

The peers are installed with pip into a private environment (build/bench-venv) on first use; without them their cells say so."""

import argparse
import glob
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PACKAGES = ["numpy", "numexpr", "numba", "jax"]


def private_python(folder):
    """The Python of the private environment, made on first use; this one where that fails."""
    python = os.path.join(folder, "bin", "python")
    ready = os.path.join(folder, "ready")
    if os.path.exists(ready):
        return python
    print(f"installing {', '.join(PACKAGES)} into {folder}", file=sys.stderr)
    try:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True, stdout=sys.stderr)
        # One by one, so that a missing peer does not take the others along.
        for package in PACKAGES:
            subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package], stdout=sys.stderr)
        open(ready, "w").close()
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no private environment: {error}", file=sys.stderr)
        return sys.executable
    return python


def load_case(path):
    spec = importlib.util.spec_from_file_location("case_" + os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.case


def wrong(np, case, size, result, reference):
    """Why a result is not right, or None."""
    if case.check:
        return None if case.check(float(result), size) else f"wrong: {float(result)!r}"
    if reference is None:
        return None
    if result.shape != reference.shape:
        return f"wrong shape {result.shape}"
    difference = np.max(np.abs(np.subtract(result, reference, dtype=np.float64))) if result.size else 0
    allowed = case.tolerance * max(1.0, float(np.max(np.abs(reference))))
    return None if difference <= allowed else f"wrong by {difference:.2g}"


def run_case(options, path, case, floor_rates):
    import numpy as np
    from harness import gasell, report

    size = case.full_size if options.full and case.full_size else case.size
    peers_can = case.full_peers or size == case.size
    memory = case.full_memory if options.full and case.full_memory else case.memory
    results = {}
    with tempfile.TemporaryDirectory(prefix="gasell_bench_", dir=options.folder) as folder:
        arrays = case.inputs(size, np.random.default_rng(20240229))
        for name, array in arrays.items():
            np.save(os.path.join(folder, f"in_{name}.npy"), array)
        moved = case.bytes_read if case.bytes_read is not None else sum(array.nbytes for array in arrays.values())
        del arrays

        offered = {"numpy": True, "numexpr": case.numexpr, "numba": case.numba, "jax": case.jax}
        for peer in options.peers:
            if not offered[peer] or not peers_can:
                continue
            try:
                out, _ = gasell.run(sys.executable, ["-m", "harness.peers", path, peer, folder, str(options.seconds), str(size)], {"PYTHONPATH": HERE})
                results[peer] = json.loads(out)
            except gasell.Failed as failure:
                results[peer] = {"failed": "missing" if "No module named" in str(failure) else str(failure)[:60]}
        try:
            results["gasell"] = gasell.measure(options.gasell, case, folder, options.seconds, size, memory)
        except gasell.Failed as failure:
            results["gasell"] = {"failed": str(failure)}

        load = lambda program: np.load(os.path.join(folder, f"out_{program}.npy"), mmap_mode="r")
        reference = load("numpy") if "best" in results.get("numpy", {}) else None
        for program, result in results.items():
            reason = wrong(np, case, size, load(program), reference) if "best" in result else None
            if reason:
                results[program] = {"failed": reason}
        written = case.bytes_written
        if written is None:
            written = reference.nbytes if reference is not None and not case.scalar else 0
        del reference

    row = {"name": os.path.basename(path)[:-3], "title": case.title.replace("SIZE", str(size)), "results": results, "note": case.note}
    if floor_rates and moved + written > 0 and case.inner == 1:
        row["floor"] = (moved + written) / floor_rates[1 if written > moved / 100 else 0]
    ours = results["gasell"].get("best")
    if case.per_item and ours:
        items, what = case.per_item
        row["note"] = f"{ours * os.cpu_count() / items(size) * 1e9:.2f} ns per {what} and core; {case.note}"
    return row


def run_commands(options, path, case):
    from harness import gasell

    results = {}
    for program in ["gasell", *options.peers]:
        if program not in case.commands:
            continue
        executable = options.gasell if program == "gasell" else sys.executable
        try:
            times = []
            for _ in range(case.repeat if program in ("gasell", "numpy") else 3):
                out, seconds = gasell.run(executable, ["-c", case.commands[program]])
                if out.strip() != case.output:
                    raise gasell.Failed(f"wrong: {out.strip()[:40]}")
                times.append(seconds)
            results[program] = {"best": min(times)}
        except gasell.Failed as failure:
            results[program] = {"failed": "missing" if "No module named" in str(failure) else str(failure)[:60]}
    return {"name": os.path.basename(path)[:-3], "title": case.title, "results": results, "note": case.note}


def machine_name(facts):
    words = re.sub(r"\(.*?\)", " ", facts["CPU"]).lower()
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-") + f"-{facts['cores']}-cores"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of case names")
    parser.add_argument("--gasell", default=os.environ.get("GASELL") or os.path.join(ROOT, "build", "release", "bin", "gasell"), help="the command to time")
    parser.add_argument("--full", action="store_true", help="the full sizes")
    parser.add_argument("--seconds", type=float, default=1.0, help="at least this long on each steady timing")
    parser.add_argument("--peers", default=",".join(PACKAGES), help="which peers, e.g. numpy,numba; 'none'")
    parser.add_argument("--folder", help="where the input files go (default: the temporary directory)")
    parser.add_argument("--name", help="name of the results file (default: from the CPU); only whole runs write one")
    parser.add_argument("--venv", default=os.environ.get("GASELL_BENCH_VENV") or os.path.join(ROOT, "build", "bench-venv"))
    options = parser.parse_args()
    options.peers = [] if options.peers == "none" else options.peers.split(",")

    python = private_python(options.venv)
    if os.path.realpath(sys.prefix) != os.path.realpath(options.venv) and python != sys.executable:
        os.execv(python, [python, *sys.argv])
    sys.path.insert(0, HERE)
    from harness import gasell, machine, report

    version, _ = gasell.run(options.gasell, ["--version"])
    facts = machine.facts(version.strip().splitlines()[0])
    rates = machine.bandwidth()
    # A busy neighbour slows the probe; what the machine can do is the better of two.
    if rates and options.seconds >= 1:
        rates = tuple(map(max, rates, machine.bandwidth()))
    facts["memory bandwidth"] = f"read {rates[0] / 1e9:.1f} GB/s, copy {rates[1] / 1e9:.1f} GB/s" if rates else "not measured: no C++ compiler"
    facts["load before"] = f"{machine.load_average():.2f}"
    for key, value in facts.items():
        print(f"{key}: {value}")

    rows, versions = [], {}
    for path in sorted(glob.glob(os.path.join(HERE, "cases", "*.py"))):
        if options.names and not any(part in os.path.basename(path) for part in options.names):
            continue
        case = load_case(path)
        row = run_commands(options, path, case) if hasattr(case, "commands") else run_case(options, path, case, rates)
        rows.append(row)
        versions.update({peer: result["version"] for peer, result in row["results"].items() if "version" in result})
        print("  ".join(f"{name} {value}" for name, value in zip(report.STEADY_HEADER[1:], report.columns(row)[1:]) if value).join([row["title"] + ": ", ""]), flush=True)
    if not rows:
        parser.error(f"no case is named like {' or '.join(options.names)}")
    facts["peers"] = ", ".join(f"{peer} {version}" for peer, version in versions.items())

    print("\n" + report.text_table(report.STEADY_HEADER, [report.columns(row) for row in rows]))
    first = [row for row in rows if "first" in (row["results"].get("gasell") or {})]
    if first:
        print("\n" + report.text_table(report.FIRST_HEADER, [report.first_columns(row) for row in first]))
    print("\n" + report.summary(rows))
    if not options.names or options.name:
        os.makedirs(os.path.join(HERE, "results"), exist_ok=True)
        target = os.path.join(HERE, "results", (options.name or machine_name(facts)) + ".md")
        with open(target, "w", encoding="utf-8") as file:
            file.write(report.markdown(rows, facts, " ".join(["tests/bench/run.py", *sys.argv[1:]])))
        print("written:", os.path.relpath(target, ROOT))
    failed = [row["title"] for row in rows if "failed" in row["results"]["gasell"]]
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
