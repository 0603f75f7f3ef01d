"""Calls of public functions of np, but for those LEFT_OUT, with arrays of every dtype that hold extreme values, for fuzz_numpy.py --any.

Most of them make no sense. Both may raise, with other words, and Gasell may refuse by name what it has not. Where one alone raises, and where the
answers differ by more than rounding, there must be a reason in any_reasons.py. Exceptions of another class than NumPy's are counted, and with --exceptions
they must have a reason, too. Where NumPy has no answer in the time and memory that numpy_peer.py
gives it, nothing is compared.
"""

import collections
import math
import random
import subprocess

import any_reasons
import numpy_peer

CALLS_A_RUN = 300
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "uint16", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (0,), (1,), (4,), (2, 3), (3, 1), (0, 3), (2, 3, 2), (1, 4), (3, 3)]
EXTREME = {
    "b": ["True", "False"],
    "i": ["0", "1", "-1", "2", "7", "np.iinfo('{dtype}').min", "np.iinfo('{dtype}').max"],
    "u": ["0", "1", "2", "200", "np.iinfo('{dtype}').max"],
    "f": ["0.0", "-0.0", "1.0", "np.nan", "np.inf", "-np.inf", "5e-324", "1e30", "-2.5", "0.5", "3.0"],
    "c": ["0j", "1+2j", "complex(np.nan, 1)", "complex(np.inf, -0.0)", "-1-1j", "3+0j", "-0.0+1j"],
}
PLAIN = ["2", "0", "-1", "1.5", "True", "None", "[1, 2, 3]", "(2, 3)", "[[1.5, 2], [3, 4]]", "1j", "np.float32(1.5)", "np.int8(5)"]
OPTIONS = ["axis=0", "axis=-1", "axis=1", "axis=None", "keepdims=True", "dtype=np.float32", "dtype=np.int64", "axis=(0, 1)"]
# Files, settings, what calls functions or writes in place, memory that holds anything (np.empty, np.ndarray), scalars of times, bytes and
# records, and what differs by design.
LEFT_OUT = set(
    "save savetxt load loadtxt genfromtxt fromstring seterr set_printoptions printoptions errstate geterr get_printoptions vectorize piecewise fromfunction fromiter"
    " apply_along_axis apply_over_axes empty empty_like ndarray copyto put place putmask fill_diagonal put_along_axis shares_memory may_share_memory ndenumerate"
    " bytes_ void record recarray ndindex unique_values datetime64 timedelta64 longlong ulonglong from_array rechunk compute persist array_repr array_str random linalg lib emath exceptions".split()
)


def extreme_array(rng, dtypes=DTYPES):
    if rng.random() < 0.12:
        return rng.choice(PLAIN)
    shape, dtype = rng.choice(SHAPES), rng.choice(dtypes)
    values = [rng.choice(EXTREME[dtype[0]]).format(dtype=dtype) for _ in range(math.prod(shape))]
    return f"np.array([{', '.join(values)}], np.{dtype}).reshape({shape})"


def any_call(rng, names, dtypes=DTYPES):
    """One call; with others than all dtypes, of arrays of those."""
    arguments = [extreme_array(rng, dtypes) for _ in range(rng.choice([1, 1, 1, 2, 2, 3]))]
    if rng.random() < 0.25:
        arguments.append(rng.choice(OPTIONS))
    return f"np.{rng.choice(names)}({', '.join(arguments)})"


def public_names(options):
    text = "print(' '.join(dir(np)), ' '.join(['linalg.' + n for n in dir(np.linalg)]))"
    names = subprocess.run([options.gasell, "-c", text], capture_output=True, text=True).stdout.split()
    return [n for n in names if n not in LEFT_OUT and n.split(".")[-1][0].islower()]


def with_several_faults(options, cases):
    """Those of some cases whose calls raise with fewer arguments already."""
    shorter = [any_reasons.fewer_arguments(call) for call, _, _ in cases]
    _, want, _ = numpy_peer.both_answers(options, [call or "None" for call in shorter])
    answers = [want.get(str(k), "") for k in range(len(cases))]
    return [case for case, answer in zip(cases, answers) if any_reasons.RAISED.match(answer) and "missing" not in answer]


def unexplained(options, calls, reasons):
    """The calls that differ without a reason: (call, Gasell's answer, the peer's). A call that a reason gives instead stands for the first one."""
    found, pending = [], {call: call for call in calls}
    while pending:
        further = {}
        for call, got, want in numpy_peer.differences(options, list(pending)):
            why, siblings = any_reasons.reason(call, got, want) or (None, [])
            if why is None or call in siblings:
                first = pending[call]
                found.append((call if call == first else f"{call}\n    instead of {first}", got, want))
                continue
            reasons[why] += call == pending[call]
            further |= {sibling: pending[call] for sibling in siblings}
        pending = further
    raised = any_reasons.RAISED.match
    several = with_several_faults(options, [case for case in found if raised(case[1]) and raised(case[2])])
    reasons["several wrong arguments"] += len(several)
    found = [case for case in found if case not in several]
    if options.exceptions:
        return found
    others = [case for case in found if raised(case[1]) and raised(case[2])]
    reasons["another exception"] += len(others)
    return [case for case in found if case not in others]


def compare(options):
    """Shows the differences without a reason by function, and returns the status to exit with."""
    if numpy_peer.is_missing(options):
        return numpy_peer.NOT_RUN
    options.messages = True
    names = public_names(options)
    dtypes = options.dtypes.split(",") if options.dtypes else DTYPES
    found, reasons = collections.defaultdict(list), collections.Counter()
    for k in range(options.any):
        rng = random.Random(f"any {options.seed} {k}")
        for case in unexplained(options, [any_call(rng, names, dtypes) for _ in range(CALLS_A_RUN)], reasons):
            call, got, want = case
            raised = any_reasons.RAISED.match
            what = "another exception" if raised(got) and raised(want) else "gasell raises" if raised(got) else "numpy raises" if raised(want) else "another value"
            found[what, call.split("(")[0]].append(case)
    for (what, name), cases in sorted(found.items()):
        call, got, want = min(cases, key=lambda case: len(case[0]))
        print(f"\nFAILED {what}: {name}, {len(cases)} times\n    {call}\n    numpy:  {want}\n    gasell: {got}")
    failed = sum(map(len, found.values()))
    total = options.any * CALLS_A_RUN
    print(f"seed {options.seed}: {total} calls; differences with a reason: {', '.join(f'{n} {why}' for why, n in reasons.most_common())}")
    print(f"{total - failed} passed, {failed} failed")
    return 1 if failed else 0
