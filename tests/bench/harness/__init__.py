"""The benchmark's parts: cases, the programs that are timed, the machine's floor, and the report."""
