"""redis-py's Lock: SET NX PX with a token; Lua scripts release and extend it.

With the argument reacquire, reacquire() extends it: a script sets the lease of the lock anew.
"""

import sys

import redis
from redis.exceptions import LockError

from lockbench_adapter import Lock, NoEffect, NotHeld, serve


class RedisPy(Lock):
    name, library, version = "redis-py/lock", "redis", redis.__version__

    def __init__(self, url, prefix):
        self.client = redis.Redis.from_url(url, socket_timeout=1)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, timeout=ttl)
        return lock if lock.acquire(blocking=False) else None

    def acquire_within(self, key, ttl, wait):
        lock = self.client.lock(key, timeout=ttl)
        return lock if lock.acquire(blocking_timeout=wait) else None

    def release(self, lock):
        try:
            lock.release()
        except LockError as e:
            raise NotHeld(str(e)) from e

    def extend(self, lock, ttl):
        try:
            self.prolong(lock, ttl)
        except LockError as e:
            raise NotHeld(str(e)) from e

    def prolong(self, lock, ttl):
        lock.extend(ttl, replace_ttl=True)


class Reacquire(RedisPy):
    name = "redis-py/lock-reacquire"

    def prolong(self, lock, ttl):
        if ttl != lock.timeout:
            raise NoEffect("reacquire() sets the lease that was acquired, and no other")
        lock.reacquire()


serve(Reacquire if "reacquire" in sys.argv else RedisPy)
