"""python -m gasell.kernel install [--user | --sys-prefix | --prefix FOLDER] [--name NAME]; with -f FILE it is the kernel itself."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile


def install(options):
    """Makes the kernel known to Jupyter."""
    from jupyter_client.kernelspec import KernelSpecManager

    spec = {"argv": [sys.executable, "-m", "gasell.kernel", "-f", "{connection_file}"], "display_name": "Gasell", "language": "gasell",
            "interrupt_mode": "signal", "metadata": {"debugger": False}}
    prefix = sys.prefix if options.sys_prefix else options.prefix
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        with open(os.path.join(folder, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)
        print(KernelSpecManager().install_kernel_spec(folder, options.name, user=not prefix, prefix=prefix))
    return 0


def main(arguments):
    """The command; gives the exit status."""
    if arguments[:1] == ["install"]:
        parser = argparse.ArgumentParser(prog="python -m gasell.kernel install", description="Makes Gasell a kernel of Jupyter's.")
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--user", action="store_true", help="for this user (so unless said)")
        where.add_argument("--sys-prefix", action="store_true", help="into this Python's environment")
        where.add_argument("--prefix", help="into a folder's share/jupyter/kernels")
        parser.add_argument("--name", default="gasell", help="of the kernel")
        return install(parser.parse_args(arguments[1:]))
    from ipykernel.kernelapp import IPKernelApp

    from . import GasellKernel

    IPKernelApp.launch_instance(arguments, kernel_class=GasellKernel)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
