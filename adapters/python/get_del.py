"""A bad lock, for lockbench to catch: SET NX PX with a token; GET and DEL release it.

The lease can end after the GET. Then DEL removes the lock of the next owner.
"""

import uuid

import redis

from lockbench_adapter import Lock, NotHeld, serve


class GetDel(Lock):
    name, library, version = "get-del/redis-py", "redis", redis.__version__

    def __init__(self, url, prefix):
        self.client = redis.Redis.from_url(url, socket_timeout=1)

    def acquire(self, key, ttl):
        token = uuid.uuid4().hex.encode()
        taken = self.client.set(key, token, nx=True, px=round(ttl * 1000))
        return (key, token) if taken else None

    def release(self, hold):
        key, token = hold
        if self.client.get(key) != token:
            raise NotHeld("the key has another token, or none")
        self.client.delete(key)


serve(GetDel)
