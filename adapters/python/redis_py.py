"""redis-py's Lock: SET NX PX with a token; Lua scripts release and extend it."""

import redis
from redis.exceptions import LockError, LockNotOwnedError

from lockbench_adapter import Lock, NotHeld, serve


class RedisPy(Lock):
    name, library, version = "redis-py/lock", "redis", redis.__version__

    def __init__(self, url, prefix):
        self.client = redis.Redis.from_url(url, socket_timeout=1)

    def acquire(self, key, ttl):
        lock = self.client.lock(key, timeout=ttl)
        return lock if lock.acquire(blocking=False) else None

    def release(self, lock):
        try:
            lock.release()
        except (LockNotOwnedError, LockError) as e:
            raise NotHeld(str(e)) from e

    def extend(self, lock, ttl):
        try:
            lock.extend(ttl, replace_ttl=True)
        except (LockNotOwnedError, LockError) as e:
            raise NotHeld(str(e)) from e


serve(RedisPy)
