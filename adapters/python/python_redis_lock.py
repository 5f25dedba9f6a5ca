"""python-redis-lock's Lock: SET NX EX with an id; Lua scripts release and extend it.

The library puts "lock:" and "lock-signal:" before the key. Its leases are whole seconds.
"""

import logging
import math

import redis
import redis_lock

from lockbench_adapter import Lock, NotHeld, serve


class PythonRedisLock(Lock):
    name, library, version = "python-redis-lock/lock", "python-redis-lock", redis_lock.__version__
    hello = {"grain_ms": 1000, "round": "up"}

    def __init__(self, url, prefix):
        logging.getLogger("redis_lock").setLevel(logging.ERROR)  # it warns of each refusal
        self.client = redis.Redis.from_url(url, socket_timeout=1)

    def acquire(self, key, ttl):
        lock = redis_lock.Lock(self.client, key, expire=math.ceil(ttl))
        return lock if lock.acquire(blocking=False) else None

    def release(self, lock):
        try:
            lock.release()
        except redis_lock.NotAcquired as e:
            raise NotHeld(str(e)) from e

    def extend(self, lock, ttl):
        try:
            lock.extend(math.ceil(ttl))
        except redis_lock.NotAcquired as e:
            raise NotHeld(str(e)) from e


serve(PythonRedisLock)
