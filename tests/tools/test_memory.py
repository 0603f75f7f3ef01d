"""What scripts make stays within --memory: a MemoryError that can be caught, never the end of the process."""

import unittest

from support import CommandTest, run

ATTEMPT = """
def attempt(f):
    try:
        f()
        return "fine"
    except MemoryError:
        return "MemoryError"
"""


class Memory(CommandTest):
    def prints(self, text, *lines, memory="64MiB"):
        self.check(run("--memory", memory, self.script(ATTEMPT + text), GASELL_SPILL="0"), out="".join(line + "\n" for line in lines))

    def test_many_small_objects(self):
        self.prints(
            """
def lists():
    found = []
    while True:
        found.append((1.5, str(len(found))))
def dicts():
    found = {}
    while True:
        found[len(found)] = [len(found)]
print(attempt(lists), attempt(dicts), attempt(lambda: [str(i) for i in range(10**9)]))
print(attempt(lambda: len([str(i) for i in range(10**5)])), np.arange(1e6).sum())
""",
            "MemoryError MemoryError MemoryError",
            "fine 499999500000.0",
        )

    def test_large_objects(self):
        self.prints(
            """
def doubled():
    text = "x"
    while True:
        text += text
print(attempt(lambda: [0] * 10**9), attempt(lambda: "ab" * 10**9), attempt(lambda: (0,) * 2**62), attempt(lambda: "ab" * 2**62), attempt(doubled))
print(() * 2**62, [] * 2**62, repr("" * 2**62), attempt(lambda: [0] * 10**6))
""",
            "MemoryError MemoryError MemoryError MemoryError MemoryError",
            "() [] '' fine",
        )

    def test_compiled_functions(self):
        self.prints(
            """
@njit
def arrays(n):
    return np.zeros(n).sum()
@njit
def lists(n):
    found = [1.5]
    for k in range(n):
        found.append(k)
    return len(found)
@njit
def dicts(n):
    found = {0: 1.5}
    for k in range(n):
        found[k] = k
    return len(found)
print([attempt(lambda: f(n)) for f in (arrays, lists, dicts) for n in (1000, 10**9)])
""",
            "['fine', 'MemoryError', 'fine', 'MemoryError', 'fine', 'MemoryError']",
        )

    def test_frames_and_ranges(self):
        self.prints(
            """
print(attempt(lambda: pd.Series(range(10**8)).sum()), attempt(lambda: np.array(range(10**8))), attempt(lambda: np.zeros(10**8, "i1").tolist()))
print(attempt(lambda: pd.Series(range(1000)).sum()))
""",
            "MemoryError MemoryError MemoryError",
            "fine",
        )


if __name__ == "__main__":
    unittest.main()
