"""Starts the workers of a training as processes of their own."""

import json
import os
import pathlib
import socket
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[2]


def free_ports(count):
    """Numbers of ports that nobody listens on."""
    sockets = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def start(*command, **environment):
    """Starts a Python process, whose output can be read."""
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={
            **os.environ,
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            **environment,
        },
    )


def start_workers(*command, **environment):
    """Starts two workers, as one does by hand."""
    hosts = [f"localhost:{port}" for port in free_ports(2)]
    configs = [
        {"cluster": {"worker": hosts}, "task": {"type": "worker", "index": i}}
        for i in range(2)
    ]
    return [
        start(*command, TF_CONFIG=json.dumps(config), **environment)
        for config in configs
    ]


def output(process):
    """What a process prints until it ends, without an error."""
    printed, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return printed


def answer(process):
    """What the last line that a process prints is as JSON."""
    return json.loads(output(process).splitlines()[-1])
