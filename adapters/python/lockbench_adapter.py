"""The Python side of lockbench's adapter protocol, version 1.

An adapter is a class with the methods of a lock, given to serve(), which answers lockbench's
requests over standard input and output; docs/adapter-protocol.md describes them.

    class MyLock(Lock):
        name, library, version = "my-lock", "my_lib", "1.2.3"

        def __init__(self, url, prefix): ...
        def acquire(self, key, ttl):   # a hold of any type, or None if another owner has the lock
        def release(self, hold):       # raise NotHeld if the lock was lost
        def extend(self, hold, ttl):   # likewise; without it the lock cannot be extended
        def acquire_within(self, key, ttl, wait): # waits for at most wait; without it lockbench waits

    serve(MyLock)

One process has one owner; ttl and wait are in seconds. Any exception but NotHeld, Refused and NoEffect leaves
the outcome unknown. A lock that renews its holds by itself may say so: hello = {"renews": "told"}, and each
renewal that it sends is within a "with self.renewing(hold, ttl):". Prints go to standard error. LOCKBENCH_BREAK=grant, release or silent breaks the
lock on purpose, for lockbench to catch it.
"""

import contextlib
import json
import os
import platform
import signal
import sys
import threading
import time


class Refused(Exception):
    """Another owner holds the lock."""


class NotHeld(Exception):
    """This owner does not hold the lock any more."""


class NoEffect(Exception):
    """The request certainly did nothing."""


class Lock:
    """The lock of an owner. Subclasses have the methods that their lock can do."""

    name = library = version = ""
    hello = {}  # further fields of the hello, such as {"grain_ms": 1000, "release_tells": False}

    def __init__(self, url, prefix):
        """url is the address of the server, and prefix begins every key already."""

    def acquire(self, key, ttl):
        raise NotImplementedError

    def release(self, hold):
        raise NotImplementedError

    def renewing(self, hold, ttl):
        """A context in which the lock renews hold for ttl, in any thread. lockbench is told how that ended."""
        return contextlib.nullcontext()  # serve() has a better one

    def lost(self, matches):
        """Reports that the holds that match are lost, in any thread. The lock says hello = {"can": ["lost"]}."""


@contextlib.contextmanager
def within(seconds):
    """Raises TimeoutError in the block after that time, for a library without a time-out of its own."""
    def late(signum, frame):
        raise TimeoutError(f"no answer within {seconds} s")

    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


ABILITIES = {"extend": "extend", "ttl": "time_left", "release_after": "release_after", "fence": "fence",
             "wait": "acquire_within"}
ERRORS = {Refused: "refused", NotHeld: "not-held", NoEffect: "no-effect"}


class _Server:
    def __init__(self, lock, out):
        self.type, self.out = lock, out
        self.lock, self.holds, self.last, self.fence = None, {}, 0, "0"
        self.broken = os.environ.get("LOCKBENCH_BREAK", "")
        self.began = 0
        self.numbers, self.saying = {}, threading.Lock()  # of holds, by identity

    def say(self, message):
        with self.saying:
            self.out.write(json.dumps(message) + "\n")
            self.out.flush()

    def greet(self, hello):
        kind = self.type
        if hello["servers"]:
            self.lock = kind(hello["servers"][0], hello["prefix"])
            self.lock.renewing, self.lock.lost = self.renewing, self.lost
        self.began = time.monotonic_ns()
        clock = {"clock": "monotonic", "now_ns": self.began % 2**53} if sys.platform == "linux" else {}
        can = [ability for ability, method in ABILITIES.items() if hasattr(kind, method)]
        self.say({"hello": 1, "name": kind.name, "library": kind.library, "version": kind.version,
                  "runtime": platform.python_implementation() + " " + platform.python_version(),
                  "owners": 1, "can": can, **clock, **kind.hello})

    def answer(self, request):
        call = time.monotonic_ns()
        try:
            answer = {"ok": self.do(request)}
            end = time.monotonic_ns()
        except Exception as e:  # the lock's own, whatever it is
            end = time.monotonic_ns()
            answer = self.error(e)
        self.say({"id": request["id"], **answer, "call_ns": call - self.began, "return_ns": end - self.began})

    def error(self, e):
        known = [error for kind, error in ERRORS.items() if isinstance(e, kind)]
        return {"error": (known + ["unknown"])[0], "class": type(e.__cause__ or e).__name__, "text": str(e)}

    @contextlib.contextmanager
    def renewing(self, hold, ttl):
        attempt, error = time.monotonic_ns(), {}
        try:
            yield
        except BaseException as e:  # a cancelled task, too
            error = self.error(e)
            raise
        finally:
            number = self.numbers.get(id(hold))
            if number:  # else its acquire has not returned, or it is released
                self.say({"renewed": number, "ttl_ms": round(ttl * 1000),
                          "attempt_ns": attempt - self.began, **error})

    def lost(self, matches):
        for number, hold in list(self.holds.items()):
            if hold is not None and matches(hold):
                self.say({"lost": number})

    def do(self, request):
        op = request["op"]
        if op == "noop":
            return {}
        if op == "acquire":
            return self.acquire(request)
        if op == "repeat":
            return self.repeat(request)
        if op != "release" and not hasattr(self.lock, ABILITIES.get(op, "")):
            raise NoEffect("unknown op " + op)
        if request["hold"] not in self.holds:
            raise NotHeld("no such hold")
        hold, seconds = self.holds[request["hold"]], request.get("ttl_ms", 0) / 1000
        if op == "extend":
            self.lock.extend(hold, seconds)
            return {}
        if op == "ttl":
            return {"ttl_ms": int(self.lock.time_left(hold) * 1000)}
        try:
            self.release(hold, request.get("after_ms"))
        except NotHeld:
            self.forget(request["hold"])
            raise
        self.forget(request["hold"])
        return {}

    def forget(self, number):
        self.numbers.pop(id(self.holds.pop(number)), None)

    def repeat(self, request):
        key, ttl = request["key"], request["ttl_ms"] / 1000
        began = time.monotonic_ns()
        for _ in range(request["times"]):
            hold = self.lock.acquire(key, ttl)
            if hold is None:
                raise Refused("another owner has it")
            self.lock.release(hold)
        return {"took_ns": time.monotonic_ns() - began}

    def acquire(self, request):
        key, ttl, wait = request["key"], request["ttl_ms"] / 1000, request.get("wait_ms", 0) / 1000
        hold = self.lock.acquire_within(key, ttl, wait) if wait else self.lock.acquire(key, ttl)
        if hold is None and self.broken != "grant":
            raise Refused("another owner has it")
        self.last += 1
        self.holds[self.last], self.numbers[id(hold)] = hold, self.last
        got = {"hold": self.last}
        if hold is not None and hasattr(self.lock, "fence"):
            self.fence = str(self.lock.fence(hold))
        if hasattr(self.lock, "fence"):
            got["fence"] = self.fence
        return got

    def release(self, hold, after):
        if self.broken == "release" or hold is None:
            return
        try:
            if after is None:
                self.lock.release(hold)
            else:
                self.lock.release_after(hold, after / 1000)
        except NotHeld:
            if self.broken != "silent":
                raise


def serve(lock):
    """Serves a subclass of Lock until lockbench stops it."""
    out, sys.stdout = sys.stdout, sys.stderr  # what the lock prints is no answer
    server = _Server(lock, out)
    server.greet(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        message = json.loads(line)
        if message.get("stop"):
            break
        if "op" in message:
            server.answer(message)
