"""python-redis-lock's Lock: SET NX EX with an id; Lua scripts release and extend it.

The library puts "lock:" and "lock-signal:" before the key. Its leases and waits are whole seconds, and
a wait is not longer than the lease.
"""

import logging
import math

import redis
import redis_lock

from lockbench_adapter import Lock, NoEffect, NotHeld, serve


class PythonRedisLock(Lock):
    name, library, version = "python-redis-lock/lock", "python-redis-lock", redis_lock.__version__
    hello = {"grain_ms": 1000, "round": "up"}

    def __init__(self, url, prefix):
        logging.getLogger("redis_lock").setLevel(logging.ERROR)  # it warns of each refusal
        self.client = redis.Redis.from_url(url, socket_timeout=1)
        self.url, self.waiting = url, {}

    def acquire(self, key, ttl):
        lock = redis_lock.Lock(self.client, key, expire=math.ceil(ttl))
        return lock if lock.acquire(blocking=False) else None

    def acquire_within(self, key, ttl, wait):
        seconds = math.ceil(wait)
        if seconds not in self.waiting:  # it blocks in a command, which the time-out must not end
            self.waiting[seconds] = redis.Redis.from_url(self.url, socket_timeout=seconds + 1)
        lock = redis_lock.Lock(self.waiting[seconds], key, expire=math.ceil(ttl))
        try:
            return lock if lock.acquire(timeout=seconds) else None
        except redis_lock.TimeoutTooLarge as e:
            raise NoEffect(str(e)) from e

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
