"""Facts of the machine, and its memory's floor measured in the same run."""

import datetime
import os
import platform
import subprocess
import tempfile


def cpu_name():
    try:
        with open("/proc/cpuinfo") as file:
            fields = dict(line.split(":", 1) for line in file.read().split("\n\n")[0].splitlines() if ":" in line)
        fields = {key.strip(): value.strip() for key, value in fields.items()}
        return fields.get("model name", platform.machine()) + f" (family {fields.get('cpu family', '?')}, model {fields.get('model', '?')})"
    except OSError:
        return platform.machine()


def memory_bytes():
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def bandwidth():
    """(reading, copying) in bytes a second over all cores, what is read and written together; None where there is no C++ compiler."""
    here = os.path.dirname(os.path.abspath(__file__))
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "stream")
        command = [os.environ.get("CXX", "g++"), "-O3", "-march=native", "-std=c++20", os.path.join(here, "stream.cpp"), "-o", program, "-pthread"]
        try:
            subprocess.run(command, check=True, capture_output=True)
            reading, copying = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split()
        except (OSError, subprocess.CalledProcessError):
            return None
    return float(reading) * 1e9, float(copying) * 1e9


def facts(gasell_version):
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "CPU": cpu_name(),
        "cores": str(os.cpu_count()),
        "memory": f"{memory_bytes() / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "gasell": gasell_version,
        "Python": platform.python_version(),
    }


def load_average():
    return os.getloadavg()[0]
