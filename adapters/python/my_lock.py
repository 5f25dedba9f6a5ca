"""A lock to start from: SET NX PX with a token; scripts release and extend it. Put your own in its place.

It needs nothing but Python.
"""

import socket
import uuid
from urllib.parse import unquote, urlparse

from lockbench_adapter import Lock, NotHeld, serve

RELEASE = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('del', KEYS[1])"
EXTEND = "return redis.call('get', KEYS[1]) == ARGV[1] and redis.call('pexpire', KEYS[1], ARGV[2])"


class MyLock(Lock):
    name, library, version = "my-lock", "my library", "1"

    def __init__(self, url, prefix):
        self.redis = Redis(url)

    def acquire(self, key, ttl):
        token = uuid.uuid4().hex
        taken = self.redis("SET", key, token, "NX", "PX", round(ttl * 1000))
        return (key, token) if taken else None

    def release(self, hold):
        key, token = hold
        if not self.redis("EVAL", RELEASE, 1, key, token):
            raise NotHeld("the key has another token, or none")

    def extend(self, hold, ttl):
        key, token = hold
        if not self.redis("EVAL", EXTEND, 1, key, token, round(ttl * 1000)):
            raise NotHeld("the key has another token, or none")


class Redis:
    """A connection to a server, made anew after an error."""

    def __init__(self, url):
        self.url, self.file = urlparse(url), None

    def __call__(self, *words):
        try:
            if self.file is None:
                self.connect()
            return self.ask(*words)
        except OSError:
            self.file = None
            raise

    def connect(self):
        conn = socket.create_connection((self.url.hostname, self.url.port), timeout=1)
        self.file = conn.makefile("rwb")
        if self.url.password:
            self.ask("AUTH", *filter(None, map(unquote, (self.url.username or "", self.url.password))))
        self.ask("SELECT", self.url.path.strip("/") or 0)

    def ask(self, *words):
        words = [str(word).encode() for word in words]
        self.file.write(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
        self.file.flush()
        reply = self.file.readline().decode().rstrip("\r\n")
        if not reply:
            raise ConnectionError("the server hung up")
        if reply[0] == "-":
            raise RuntimeError(reply[1:])
        if reply[0] == "$" and reply != "$-1":
            return self.file.read(int(reply[1:]) + 2)[:-2]
        return None if reply == "$-1" else int(reply[1:]) if reply[0] == ":" else reply[1:]


serve(MyLock)
