"""An advisory lock of PostgreSQL, held by the session of psycopg's connection.

The lock has no lease: it ends with its session, whoever ends that. One session may lock a key several
times. psycopg has no time-out for an answer, so the adapter has one.
"""

import psycopg

from lockbench_adapter import Lock, NoEffect, NotHeld, serve, within


class PsycopgAdvisory(Lock):
    name, library, version = "psycopg/advisory", "psycopg", psycopg.__version__
    hello = {"service": "postgres", "leaseless": True, "can": ["reentrant"],
             "claims": ["-exclusion@lost-reply: a session ends with its connection, while its owner works on",
                        "-effects@lost-reply: a session ends with its connection, while its owner works on"]}

    def __init__(self, url, prefix):
        self.url, self.session = url, None

    def ask(self, session, function, key):
        statement = f"select {function}(hashtextextended(encode(%s, 'hex'), 0))"
        try:
            with within(2):
                return session.execute(statement, (key.encode(),)).fetchone()[0]
        except (psycopg.OperationalError, TimeoutError):
            session.close()  # and with it whatever it holds
            raise

    def acquire(self, key, ttl):
        if self.session is None or self.session.closed:
            try:
                self.session = psycopg.connect(self.url, autocommit=True, connect_timeout=2)
            except psycopg.OperationalError as e:
                raise NoEffect(str(e)) from e
        got = self.ask(self.session, "pg_try_advisory_lock", key)
        return (self.session, key) if got else None

    def release(self, hold):
        session, key = hold
        if session.closed:
            raise NotHeld("its session has ended")
        if not self.ask(session, "pg_advisory_unlock", key):
            raise NotHeld("its session does not hold it")


serve(PsycopgAdvisory)
