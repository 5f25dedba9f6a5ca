"""The Lock of redis.asyncio: SET NX PX with a token; Lua scripts release and extend it."""

import asyncio

import redis
from redis.asyncio import Redis
from redis.exceptions import LockError

from lockbench_adapter import Lock, NotHeld, serve


class RedisPyAsyncio(Lock):
    """The loop runs during a request only. Nothing of the lock runs between two requests."""

    name, library, version = "redis-py/asyncio-lock", "redis", redis.__version__

    def __init__(self, url, prefix):
        self.loop = asyncio.new_event_loop()
        self.client = Redis.from_url(url, socket_timeout=1)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, timeout=ttl)
        return lock if self.loop.run_until_complete(lock.acquire(blocking=False)) else None

    def acquire_within(self, key, ttl, wait):
        lock = self.client.lock(key, timeout=ttl)
        return lock if self.loop.run_until_complete(lock.acquire(blocking_timeout=wait)) else None

    def release(self, lock):
        try:
            self.loop.run_until_complete(lock.release())
        except LockError as e:
            raise NotHeld(str(e)) from e

    def extend(self, lock, ttl):
        try:
            self.loop.run_until_complete(lock.extend(ttl, replace_ttl=True))
        except LockError as e:
            raise NotHeld(str(e)) from e


serve(RedisPyAsyncio)
