"""redis-py's Lock, with reacquire() to extend it: a Lua script sets the lease of the lock anew."""

import redis
from redis.exceptions import LockError

from lockbench_adapter import Lock, NoEffect, NotHeld, serve


class RedisPyReacquire(Lock):
    name, library, version = "redis-py/lock-reacquire", "redis", redis.__version__

    def __init__(self, url, prefix):
        self.client = redis.Redis.from_url(url, socket_timeout=1)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, timeout=ttl)
        return lock if lock.acquire(blocking=False) else None

    def release(self, lock):
        try:
            lock.release()
        except LockError as e:
            raise NotHeld(str(e)) from e

    def extend(self, lock, ttl):
        if ttl != lock.timeout:
            raise NoEffect("reacquire() sets the lease that was acquired, and no other")
        try:
            lock.reacquire()
        except LockError as e:
            raise NotHeld(str(e)) from e


serve(RedisPyReacquire)
