"""Foreign connections while a job's ranks connect do not disturb it; it listens on loopback only.

MINI_BIN_DIR is the folder of the programs.
"""

import contextlib
import json
import os
import random
import resource
import socket
import struct
import subprocess
import time
import unittest
from pathlib import Path

BIN = os.environ["MINI_BIN_DIR"]
RANKS = 3
PROGRAM = [f"{BIN}/train_mnist", "--data", "digits", "--batch-size", "126", "--steps", "60",
           "--json"]
COOKIE = "00112233445566778899aabbccddeeff"
MAGIC, VERSION = b"libmini\n", 1  # of libmini/distributed/net/hello.cpp
WRONG_COOKIE = struct.pack("<8sII16siiQ", MAGIC, VERSION, 1, bytes(16), 1, RANKS, 0)
HALF_A_HELLO = WRONG_COOKIE[:20]
LISTENS = "0A"  # the state LISTEN in /proc/net/tcp


def sockets_of(process):
    """Returns the inodes of a process's sockets."""
    inodes = set()
    for fd in Path("/proc").glob(f"{process}/fd/*"):
        with contextlib.suppress(OSError):
            link = os.readlink(fd)
            if link.startswith("socket:["):
                inodes.add(link[8:-1])
    return inodes


def address_of(text):
    """Returns ("127.0.0.1", 80) for 0100007F:0050; IPv6 addresses are not converted."""
    host, port = text.split(":")
    if len(host) == 8:
        host = socket.inet_ntoa(struct.pack("<I", int(host, 16)))
    return host, int(port, 16)


def listeners(process):
    """Returns the addresses on which a process listens, as in the output of ss -ltn."""
    mine = sockets_of(process)
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(table).read_text().splitlines()[1:]:
                words = line.split()
                if words[3] == LISTENS and words[9] in mine:
                    found.add(address_of(words[1]))
    return found


def connect_and_send(address, payload):
    """Connects and sends; returns the open socket, or None if the port is closed."""
    try:
        connection = socket.create_connection(address, timeout=5)
        connection.sendall(payload)
        return connection
    except OSError:
        return None


def payloads():
    """Yields data that scanners, browsers, other programs and broken ranks might send."""
    noise = random.Random(7)
    yield b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
    yield b"SSH-2.0-scanner\r\n"
    yield b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # TLS
    yield WRONG_COOKIE
    yield b"\x00"
    yield b"\xff" * 4096
    for length in (1, 3, 7, 15, 16, 31, 64, 1000, 65536):
        yield noise.randbytes(length)


def start_rank(rank, port):
    variables = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": RANKS, "LOCAL_WORLD_SIZE": RANKS,
                 "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "MINI_STORE_COOKIE": COOKIE}
    return subprocess.Popen(PROGRAM, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **{name: str(v) for name, v in variables.items()}})


def held_port():
    """Reserves a free port: only a socket that asks for this port, as rank 0 does, can get it."""
    reserved = socket.socket()
    reserved.bind(("127.0.0.1", 0))
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return reserved


def until(condition, seconds=60):
    """Waits until condition() is true, and returns its value."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)  # between two polls
    raise AssertionError("the condition did not become true")


class ForeignConnections(unittest.TestCase):
    def setUp(self):
        self.ranks = []
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))

    def tearDown(self):
        for rank in self.ranks:
            if rank.poll() is None:
                rank.kill()
            rank.communicate()

    def listening(self):
        return set().union(*(listeners(rank.pid) for rank in self.ranks))

    def test_foreign_connections_do_not_disturb_a_job_that_listens_on_loopback_only(self):
        undisturbed = subprocess.run([f"{BIN}/minirun", "-n", str(RANKS), *PROGRAM],
                                     capture_output=True, text=True, timeout=200, check=True)

        # Two of three ranks wait for the last rank; foreign connections are opened and stay open.
        held = held_port()
        self.addCleanup(held.close)
        port = held.getsockname()[1]
        self.ranks = [start_rank(rank, port) for rank in range(RANKS - 1)]
        addresses = until(self.listening)
        self.assertEqual(addresses, {("127.0.0.1", port)})
        connections = [connect_and_send(address, payload)
                       for address in addresses for payload in payloads()]
        connections += [connect_and_send(("127.0.0.1", port), HALF_A_HELLO) for _ in range(1000)]
        self.assertGreaterEqual(sum(connection is not None for connection in connections), 1000)

        # When the last rank connects, all listening sockets close, and the job runs undisturbed.
        self.ranks.append(start_rank(RANKS - 1, port))
        started = until(lambda: not self.listening() and all(rank.poll() is None
                                                         for rank in self.ranks))
        said = [rank.communicate(timeout=100) for rank in self.ranks]
        for connection in filter(None, connections):
            connection.close()
        self.assertTrue(started)
        self.assertEqual([rank.returncode for rank in self.ranks], [0] * RANKS, said)
        report, expected = (json.loads(text.splitlines()[-1])
                            for text in (said[0][0], undisturbed.stdout))
        self.assertEqual(report["parameters_sha256"], expected["parameters_sha256"])
