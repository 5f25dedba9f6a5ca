"""Threads that share a lock in memory, recorded: workers.py FILE [sound|broken [ROUNDS [SAMPLE]]].
A broken lock lets in everybody whose try has an even number."""
import sys, threading, time

from lockbench_recorder import Recorder


class NotHeld(Exception):
    pass


class Lock:
    """A lock with leases, one object for each owner."""

    holders, mutex, tries, broken = {}, threading.Lock(), 0, False

    def __init__(self, key, lease):
        self.key, self.lease = key, lease

    def acquire(self):
        with Lock.mutex:
            Lock.tries += 1
            owner, until = Lock.holders.get(self.key, (None, 0))
            if owner and until > time.monotonic() and not (Lock.broken and Lock.tries % 2 == 0):
                return False
            Lock.holders[self.key] = self, time.monotonic() + self.lease
            return True

    def release(self):
        with Lock.mutex:
            owner, until = Lock.holders.get(self.key, (None, 0))
            if owner is not self or until < time.monotonic():
                raise NotHeld(self.key)
            del Lock.holders[self.key]


def work(recorder, rounds, barrier):
    barrier.wait()
    for i in range(rounds):
        lock = Lock(f"item:{i % 3}", lease=30.0)
        try:
            with recorder.holding(lock.key, lock.acquire, lock.release, lease=30.0, lost=NotHeld) as held:
                if held:
                    time.sleep(0.0002)
        except NotHeld:
            pass


def main():
    file, how, rounds, sample = (sys.argv[1:] + ["sound", "300", "1"][len(sys.argv) - 2 :])[:4]
    Lock.broken = how == "broken"
    recorder = Recorder(file, design="in-memory", others=False, sample=float(sample))
    barrier = threading.Barrier(4)
    threads = [threading.Thread(target=work, args=(recorder, int(rounds), barrier)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    recorder.close()


main()
