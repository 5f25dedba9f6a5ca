"""Tests of a lock in Python by lockbench. Run them with pytest, in the folder that has my-lock:

    lockbench adapter new python my-lock
    python -m pytest test_my_lock.py

run locks on the server of LOCKBENCH_SERVER, by default on a private redis-server.
"""

import subprocess
import sys

# The lock is imported in the Python of the tests, such as that of a virtual environment.
ADAPTER = f"'{sys.executable}' my-lock/my_lock.py"


def lockbench(*arguments):
    """Runs lockbench; the test fails with its output unless it exits with 0."""
    done = subprocess.run(["lockbench", *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}{done.stderr}"


def test_adapter():
    lockbench("adapter", "check", "--out", "json=-", "--", ADAPTER)


def test_lock():
    lockbench("run", "--adapter", ADAPTER, "--clients", "4", "--stallers", "4", "--ttl", "500ms", "--duration", "5s", "--seed", "1")
