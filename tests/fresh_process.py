"""Runs a script where nothing is imported yet."""

import json
import os
import subprocess
import sys


def answer(script, *arguments):
    """What a script, given strings as `sys.argv[1:]`, prints as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
