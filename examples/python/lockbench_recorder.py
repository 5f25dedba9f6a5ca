"""Records what a lock told its clients, for `lockbench check FILE`.

docs/history-format.md has the format. Standard library only; safe for threads.
"""
import base64, hashlib, json, threading, time


class Recorder:
    """Writes a history to a file. Calls never wait for the disk. When more than `limit` lines
    wait, or the disk fails, recording is over, and the file says that it is partial."""

    def __init__(self, path, design, sample=1.0, others=True, limit=100_000, every=0.1):
        self._base, self._sample, self._limit, self._every = time.monotonic_ns(), sample, limit, every
        self._mutex, self._stop, self._over = threading.Lock(), threading.Event(), None
        self._lines, self._calls, self._free, self._clients, self._holds = [], {}, [], 0, 0
        self._unsure = set()  # holds with an extend of unknown outcome
        self._file = open(path, "w", encoding="utf-8")
        header = {"schema": "lockbench/history/v2", "design": design, "others": others, "sample": sample}
        self._write([header, {"epoch_ns": 0}])
        self._writer = threading.Thread(target=self._run, daemon=True)
        self._writer.start()

    def holding(self, key, acquire, release, lease=None, wait=0.0, lost=()):
        """Use it with `with`: it acquires at the beginning, and releases at the end what it was
        granted. `acquire` returns whether it was, `lost` are the errors that say that the lock is
        not held any more; any other error leaves it unknown. `lease` and `wait` are in seconds:
        a lease of 0 is a lock without one, None is a lease that is not known."""
        return Hold(self, key.encode("utf-8", "surrogatepass") if isinstance(key, str) else key, acquire, release, lease, wait, lost)

    def close(self):
        """Ends the file. What happens afterwards is not recorded."""
        self._stop.set()
        self._writer.join()
        with self._mutex:
            end = {"partial": True, "why": self._over} if self._over else {"trailer": {"end_ns": self._now()}}
            unanswered = [dict(line) for line in self._calls.values()]
            self._over = self._over or "it was closed"
        for line in unanswered:
            line.pop("return_ns", None), line.pop("outcome", None)
        self._write([*unanswered, {"end": end}])
        self._file.close()

    def _now(self):
        return time.monotonic_ns() - self._base

    def _sampled(self, key):
        return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") < self._sample * 2**64

    def _client(self):
        with self._mutex:
            self._clients += not self._free
            self._holds += 1
            return self._free.pop() if self._free else self._clients, self._holds

    def _ask(self, line, do, lost=()):
        """Does it, and records the answer, which it also returns: an outcome, and what do returned."""
        outcome = "unknown"
        with self._mutex:
            line["call_ns"] = self._now()
            self._calls[id(line)] = line
        try:
            answer = do()
            if line["op"] == "acquire":
                outcome = "ok" if answer else "refused"
            elif answer is not False:
                outcome = "ok"
            return outcome, answer
        except lost:
            outcome = "lost"
            raise
        finally:
            line["return_ns"], line["outcome"] = self._now(), outcome
            if outcome not in ("ok", "unknown"):
                line.pop("granted_ns", None)
            elif line["op"] == "acquire" and not line["wait_ns"]:
                line["attempt_ns"] = line["call_ns"]
            with self._mutex:
                del self._calls[id(line)]
                if len(self._lines) >= self._limit:
                    self._over = self._over or "the queue was full"
                if not self._over:
                    self._lines.append(line)
                if outcome == "unknown":
                    self._unsure.add(line["hold"])
                elif outcome == "refused" or line["op"] == "release" and line["hold"] not in self._unsure:
                    self._free.append(line["client"])  # nothing more happens in its name
                if line["op"] != "extend":
                    self._unsure.discard(line["hold"])

    def _run(self):
        while not self._stop.wait(self._every):
            self._flush()
        self._flush()

    def _flush(self):
        with self._mutex:
            lines, self._lines = self._lines, []
            epoch = min((line["call_ns"] for line in self._calls.values()), default=self._now())
            if not self._over:
                lines.append({"epoch_ns": epoch})
        self._write(lines)

    def _write(self, lines):
        try:
            self._file.write("".join(json.dumps(line) + "\n" for line in lines))
            self._file.flush()
        except OSError as error:
            self._over = self._over or str(error)


class Hold:
    """One try of a key. It is true while the key is held, as far as is known."""

    def __init__(self, recorder, key, acquire, release, lease, wait, lost):
        self._to = recorder if recorder._sampled(key) else None
        self._acquire, self._release, self._lost, self._held = acquire, release, lost, False
        try:
            self._about = {"key": key.decode("utf-8")}
        except UnicodeDecodeError:
            self._about = {"key_base64": base64.b64encode(key).decode()}
        self._grant = {"wait_ns": round(wait * 1e9)} | _lease(lease)

    def __bool__(self):
        return self._held

    def _ask(self, op, do, more=()):
        if not self._to:
            return do()
        outcome, answer = self._to._ask({"op": op} | self._about | dict(more), do, self._lost)
        return answer

    def __enter__(self):
        if self._to:
            self._about["client"], self._about["hold"] = self._to._client()
        self._held = bool(self._ask("acquire", self._acquire, self._grant))
        return self

    def extend(self, do, lease=None):
        """Does an extend, and records it."""
        return self._ask("extend", do, _lease(lease))

    def __exit__(self, *_):
        if self._held:
            self._held = False
            self._ask("release", self._release)


def _lease(seconds):
    return {} if seconds is None else {"granted_ns": round(seconds * 1e9)}
