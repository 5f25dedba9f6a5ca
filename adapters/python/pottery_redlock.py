"""pottery's Redlock on one server: SET NX PX with a token; Lua scripts release and extend it.

The library puts "redlock:" before the key.
"""

from importlib.metadata import version

import redis
from pottery import ExtendUnlockedLock, Redlock, ReleaseUnlockedLock, TooManyExtensions

from lockbench_adapter import Lock, NoEffect, NotHeld, serve


class PotteryRedlock(Lock):
    name, library, version = "pottery/redlock", "pottery", version("pottery")

    def __init__(self, url, prefix):
        self.client = redis.Redis.from_url(url, socket_timeout=1)

    def lock(self, key, ttl):
        # Without raise_on_redis_errors a time-out would look like a refusal.
        return Redlock(key=key, masters={self.client}, auto_release_time=ttl, raise_on_redis_errors=True)

    def acquire(self, key, ttl):
        lock = self.lock(key, ttl)
        return lock if lock.acquire(blocking=False) else None

    def acquire_within(self, key, ttl, wait):
        lock = self.lock(key, ttl)
        return lock if lock.acquire(timeout=wait) else None

    def release(self, lock):
        try:
            lock.release()
        except ReleaseUnlockedLock as e:
            raise NotHeld("release of an unlocked lock") from e

    def extend(self, lock, ttl):
        lock.auto_release_time = ttl  # extend() has no argument for it
        try:
            lock.extend()
        except ExtendUnlockedLock as e:
            raise NotHeld("extend of an unlocked lock") from e
        except TooManyExtensions as e:  # the fourth; it sends nothing
            raise NoEffect("too many extensions") from e


serve(PotteryRedlock)
