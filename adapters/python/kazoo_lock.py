"""kazoo's Lock: an ephemeral node of the session, whose number says whose turn it is.

The lease is the time-out of the session, which kazoo renews: whole seconds, set by the first acquire. A
release does not tell whether the session had ended; the listener of the session does. kazoo tries again
for ever, and the adapter 2 s.
"""

import logging
import math
import os
import threading
from urllib.parse import quote, urlsplit

import kazoo.version
from kazoo.client import KazooClient, KazooState
from kazoo.handlers.threading import KazooTimeoutError

from lockbench_adapter import Lock, NoEffect, serve, within


class KazooLock(Lock):
    name, library, version = "kazoo/lock", "kazoo", kazoo.version.__version__
    hello = {"service": "zookeeper", "renews": "unseen", "release_tells": False, "grain_ms": 1000, "can": ["lost"]}

    def __init__(self, url, prefix):
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        self.url, self.client = urlsplit(url), None

    def session(self, ttl):
        if self.client is None:
            client = KazooClient(self.url.netloc + self.url.path, timeout=math.ceil(ttl))
            client.add_listener(lambda state: self.lost(lambda lock: state == KazooState.LOST and lock.client is client))
            try:
                client.start(timeout=2)
            except KazooTimeoutError as e:
                client.stop()
                raise NoEffect(str(e)) from e
            self.client = client
        return self.client

    def call(self, f, *args, **words):
        try:
            with within(2):
                return f(*args, **words)
        except TimeoutError:  # end the session, and with it whatever it holds
            threading.Thread(target=self.client.stop, daemon=True).start()
            self.client = None
            raise

    def acquire(self, key, ttl):
        lock = self.session(ttl).Lock("/" + quote(key, safe=":"))
        return lock if self.call(lock.acquire, blocking=False) else None

    def release(self, lock):
        self.call(lock.release)


serve(KazooLock)
os._exit(0)  # the threads of kazoo wait for the server
