"""Programs are started while threads of ours pull from Pub/Sub."""

import os
import subprocess
import sys
from uuid import uuid4

from tests.parts.pubsub import Pubsub

PROGRAMS = 100
# a program that is started as another user is forked the long way, handlers and all: so it is here
BESIDE = """
import subprocess, sys, threading
from penstock.sources.pubsub import PubsubSource
address, subscription, programs = sys.argv[1:]
def pull():
    with PubsubSource({"emulator": address}, subscription=subscription) as source:
        while True:
            list(source.fetch(1, 0.2))
for _ in range(3):
    threading.Thread(target=pull, daemon=True).start()
said = [subprocess.run(["echo", "x"], preexec_fn=lambda: None, capture_output=True) for _ in range(int(programs))]
print([one.returncode for one in said if one.stdout != b"x\\n"], flush=True)
"""


def test_a_program_started_beside_pulls_runs(pubsub_server: Pubsub) -> None:
    name = f"s-{uuid4().hex[:10]}"
    subscription = pubsub_server.add(name)
    pubsub_server.publish(name, [(b"x", {}, "")] * 50)
    bare = {key: value for key, value in os.environ.items() if key != "GRPC_ENABLE_FORK_SUPPORT"}
    command = [sys.executable, "-c", BESIDE, pubsub_server.address, subscription, str(PROGRAMS)]
    ran = subprocess.run(command, env=bare, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "[]\n", ran.stderr
