"""Measures requests per second of a running server, and checks all answers.

    kerasrnn-serve saved_models
    python benchmarks/server.py saved_models/nmt_hindi --clients 16

Each client sends one sentence at a time in protocol v2 over HTTP and waits for
the answer, which must equal that of a direct call. One of every `--bad` clients
sends invalid requests instead, which must be rejected. Client and server share
the machine. The memory is that of the process `--pid` and its children; shared
memory counts once.
"""

import argparse
import asyncio
import collections
import itertools
import os
import pathlib
import random
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import httpx  # noqa: E402
import numpy as np  # noqa: E402

from kerasrnn.serving import ModelFolder  # noqa: E402

SENTENCES = (
    """come in.|who is there?|my brother does not like tea.
the old man is at home today.|the red book is on the table.|is she your sister?
we have three big houses.|i want to read this book.|where are the children?
give me some water.|he is taller than his father.|they did not come yesterday.
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


class Clients:
    """Sends requests, and records seconds, outcomes and the server's memory."""

    def __init__(self, args):
        self.url = f"{args.url}/v2/models/{args.model.name}/infer"
        self.until = 0.0
        self.seconds = []
        self.outcomes = collections.Counter()
        self.memory = []
        self.pid, self.bad = args.pid, args.bad
        signature = ModelFolder(args.model).load().signatures["serving_default"]
        [self.input], [self.output] = (
            list(signature.inputs),
            [n for n, x in signature.outputs.items() if x.dtype == "string"],
        )
        self.right = {
            text: signature(**{self.input: [text]})[self.output][0]
            for text in SENTENCES
        }

    async def ask(self, number):
        """Runs one client, which starts with its own sentence."""
        texts = itertools.islice(
            itertools.cycle(SENTENCES), number % len(SENTENCES), None
        )
        is_bad = self.bad and number % self.bad == 0
        async with httpx.AsyncClient(timeout=120) as client:
            for text in texts:
                if time.monotonic() > self.until:
                    return
                if is_bad:
                    outcome = await self.refusal(client)
                else:
                    outcome = await self.answer(client, text)
                self.outcomes[outcome] += 1

    def request(self, *texts):
        shape = [len(texts)]
        tensor = {"name": self.input, "datatype": "BYTES", "shape": shape}
        return {"inputs": [{**tensor, "data": texts}]}

    async def refusal(self, client):
        """Sends too many rows, or a number instead of text."""
        body = self.request(*random.choice([["a"] * 2000, [1]]))
        answer = await client.post(self.url, json=body)
        return "refused" if answer.status_code == 400 else "not refused"

    async def answer(self, client, text):
        start = time.monotonic()
        answer = await client.post(self.url, json=self.request(text))
        if answer.status_code != 200:
            return f"status {answer.status_code}"
        self.seconds.append(time.monotonic() - start)
        outputs = {x["name"]: x["data"] for x in answer.json()["outputs"]}
        right = outputs[self.output] == [self.right[text]]
        return "right" if right else "wrong"

    async def watch(self):
        """Records the memory of the server in MiB each second."""
        while time.monotonic() < self.until:
            if self.pid:
                self.memory.append(memory(self.pid))
            await asyncio.sleep(1)


def memory(pid):
    """Returns the memory of a process and its children in MiB."""
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text()
    total = 0
    for number in [pid, *children.split()]:
        rollup = pathlib.Path(f"/proc/{number}/smaps_rollup").read_text()
        total += int(rollup.partition("\nPss:")[2].split()[0]) / 1024
    return total


async def run(clients, count, seconds):
    clients.until = time.monotonic() + seconds
    await asyncio.gather(clients.watch(), *map(clients.ask, range(count)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("model", type=pathlib.Path, help="folder of versions")
    parser.add_argument("--url", default="http://127.0.0.1:8080")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--bad", type=int, default=4, help="0: none")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pid", type=int, help="process of the server")
    args = parser.parse_args()
    clients = Clients(args)
    asyncio.run(run(clients, args.clients, args.seconds))
    p50, p99 = 1000 * np.percentile(clients.seconds, [50, 99])
    print("| clients | requests per second | p50 ms | p99 ms | outcomes |")
    print("|--:|--:|--:|--:|---|")
    print(
        f"| {args.clients} | {len(clients.seconds) / args.seconds:.1f} "
        f"| {p50:.0f} | {p99:.0f} | {dict(clients.outcomes)} |"
    )
    if clients.memory:
        first, last = (
            np.mean(part)
            for part in (clients.memory[:60], clients.memory[-60:])
        )
        print(f"Memory, first and last minute: {first:.0f}, {last:.0f} MiB")


if __name__ == "__main__":
    main()
