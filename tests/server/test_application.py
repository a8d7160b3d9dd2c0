"""How an application starts the processes of its models."""

import asyncio

import pytest

pytest.importorskip("starlette")

from kerasrnn_server.application import Application  # noqa: E402
from kerasrnn_server.settings import ServerSettings  # noqa: E402
from kerasrnn_server.worker import Worker  # noqa: E402
from kerasrnn_server.worker import WorkerEnded  # noqa: E402

FLAG = "--tf_xla_persistent_cache_directory=/full"


@pytest.mark.parametrize(
    ("flags", "tried"), [(FLAG, [None, ""]), ("--tf_xla_auto_jit=0", [None])]
)
def test_a_version_is_tried_without_programs_that_are_kept(
    tmp_path, monkeypatch, flags, tried
):
    """XLA does not compile where it cannot write, or finds damaged files."""
    found = []

    async def start(path, limits, changed, env=None):
        found.append(env and env["TF_XLA_FLAGS"])
        raise WorkerEnded

    monkeypatch.setenv("TF_XLA_FLAGS", flags)
    monkeypatch.setattr(Worker, "start", start)
    application = Application(tmp_path, ServerSettings())
    with pytest.raises(WorkerEnded):
        asyncio.run(application._start(tmp_path, lambda: None))
    assert found == tried
