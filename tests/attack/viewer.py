# SPDX-License-Identifier: Apache-2.0
"""Hostile clients of `tangere view`: whatever they send, the next one is answered, nothing but the page and the scene is served, and
memory stays within bounds."""
import base64
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import time
import urllib.parse

from driver import MEMORY_LIMIT_BYTES, Case

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "\0", "G" * 5000, "")
PATHS = ("/", "/scene", "/live", "/frames", "/etc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/scene?", "/" + "a" * 20000, "/%00", "*",
         "http://elsewhere/", "/viewer.html", "/frames?first=-1", "/frames?first=99999999999999999999&count=-5", "/..\\..\\etc\\passwd")
HEADERS = ("Host: elsewhere.example", "Origin: http://elsewhere.example", "Origin: null", "Content-Length: 99999999999", "Content-Length: -1", "Transfer-Encoding: chunked",
           "Range: bytes=0-,0-,0-,0-", "Expect: 100-continue", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x", "Sec-WebSocket-Version: 99",
           "X: " + "y" * 30000, ": ", "\0", "Host:", "Accept-Encoding: gzip;q=nan")
COMMANDS = ("pause", "play", "step", "reset", "pull", "drag", "release", "speed", "load", "shell", "", "x" * 4000)
VALUES = (0, 1, -1, 2**31, 2**63, 1e308, -1e308, "nan", None, True, [], {}, [1e308] * 3, [0, 0, 0], ["a"], "../../etc/passwd", "x" * 3000, {"a": {"a": {"a": []}}})
KEYS = ("body", "count", "from", "to", "force", "point", "target", "value", "speed", "position", "path", "file", "id")
ANSWER_LIMIT_S = 8


def frame(random, payload, opcode=1):
    """A WebSocket frame, as the standard says or not."""
    length = len(payload)
    first = (0x80 if random.random() < 0.9 else random.choice((0, 0x40, 0xf0))) | (opcode if random.random() < 0.9 else random.randrange(16))
    mask = 0x80 if random.random() < 0.9 else 0
    if random.random() < 0.05:
        length = random.choice((0, 126, 65535, 65536, 2**31, 2**62, 2**64 - 1))
    head = bytes([first]) + (bytes([mask | length]) if length < 126 else bytes([mask | 126]) + struct.pack(">H", length) if length < 65536 else bytes([mask | 127]) + struct.pack(">Q", length))
    return head + (bytes(4) if mask else b"") + payload


def message(random):
    what = random.random()
    if what < 0.15:
        return os.urandom(0) + bytes(random.randrange(256) for _ in range(random.choice((0, 1, 5, 200, 5000))))
    if what < 0.3:
        return random.choice((b"{", b"[" * 5000, b"null", b"1e999", b'{"command":', b'"\\ud800"', b"{}" * 100, b'{"command":"step","count":1e999}'))
    made = {"command": random.choice(COMMANDS), **{random.choice(KEYS): random.choice(VALUES) for _ in range(random.randrange(4))}}
    return json.dumps(made).encode()


class Viewer:
    """Bytes of a client that means harm; afterwards the page is asked for."""
    name = "viewer"

    def __init__(self, machine):
        self.machine, self.server = machine, None

    def close(self):
        if self.server and self.server.poll() is None:
            self.server.send_signal(signal.SIGINT)
            try:
                self.server.wait(10)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait()
        self.server = None

    def start(self):
        if self.server and self.server.poll() is None:
            return
        self.machine.runs += 1
        self.server = subprocess.Popen([self.machine.program, "view", SCENES / "stack.toml", "--json"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        text = b""
        while b"}" not in text:
            line = self.server.stdout.readline()
            if not line:
                raise RuntimeError("the viewer does not start")
            text += line
        address = urllib.parse.urlparse(json.loads(text)["address"])
        self.place, self.query = (address.hostname, address.port), "?" + address.query

    def case(self, random):
        if random.random() < 0.5:
            lines = [f"{random.choice(METHODS)} {random.choice(PATHS)}{random.choice(('', 'TOKEN', '?token=guess'))} {random.choice(('HTTP/1.1', 'HTTP/1.0', 'HTTP/9.9', ''))}"]
            lines += [random.choice(HEADERS) for _ in range(random.choice((0, 1, 3, 300)))]
            sent = "\r\n".join(lines).encode("latin1") + random.choice((b"\r\n\r\n", b"\r\n", b"", b"\n\n"))
            if random.random() < 0.1:
                sent = bytes(random.randrange(256) for _ in range(random.choice((1, 100, 20000))))
            return Case(self.name, {"is_socket": False, "copies": random.choice((1, 1, 1, 30))}, {"client.bin": sent}, "client.bin")
        sent = b"".join(frame(random, message(random)) for _ in range(random.choice((1, 3, 20, 300))))
        return Case(self.name, {"is_socket": True, "copies": random.choice((1, 1, 3))}, {"client.bin": sent}, "client.bin")

    def attempt(self, case):
        self.start()
        clients, heard = [], b""
        try:
            for _ in range(case.parameters["copies"]):
                client = socket.create_connection(self.place, timeout=ANSWER_LIMIT_S)
                clients.append(client)
                client.settimeout(0.05)
                heard += self.send(client, case)
            started = time.monotonic()
            status, page = self.ask()
            fault = None
            if self.server.poll() is not None:
                fault = f"the server ended with {self.server.returncode}"
            elif status != 200:
                fault = f"the next client is answered with {status}"
            elif time.monotonic() - started > ANSWER_LIMIT_S:
                fault = "the next client waits"
            elif b"root:" in heard or b"[simulation]" in heard:
                fault = "a file was served"
            elif self.memory() > MEMORY_LIMIT_BYTES:
                fault = "more than 1 GB of memory"
        except OSError as error:
            fault = f"the next client is not answered: {type(error).__name__}"
        finally:
            for client in clients:
                client.close()
        if fault:
            self.close()
        return fault

    def send(self, client, case):
        """What came back within a moment."""
        sent, heard = case.files["client.bin"].replace(b"TOKEN", self.query.encode()), b""
        try:
            if case.parameters["is_socket"]:
                key = base64.b64encode(b"0123456789abcdef").decode()
                client.sendall(f"GET /live{self.query} HTTP/1.1\r\nHost: {self.place[0]}:{self.place[1]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                               f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
                heard += client.recv(4096)
            client.sendall(sent)
            heard += client.recv(100_000)
        except OSError:  # being cut off is what is to happen
            pass
        return heard

    def ask(self):
        with socket.create_connection(self.place, timeout=ANSWER_LIMIT_S) as client:
            client.sendall(f"GET /{self.query} HTTP/1.0\r\nHost: {self.place[0]}:{self.place[1]}\r\n\r\n".encode())
            text = b""
            while piece := client.recv(1 << 16):
                text += piece
        words = text.split(b" ", 2)
        return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0, text

    def memory(self):
        """Resident [bytes]."""
        text = pathlib.Path(f"/proc/{self.server.pid}/statm").read_text()
        return int(text.split()[1]) * os.sysconf("SC_PAGE_SIZE")
