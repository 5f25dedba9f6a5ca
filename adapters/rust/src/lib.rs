//! The Rust side of lockbench's adapter protocol, version 1.
//!
//! An adapter is a type that implements [`Lock`], given to [`serve`], which answers lockbench's
//! requests over standard input and output; docs/adapter-protocol.md describes them. One process has
//! one owner. Prints go to standard error. `LOCKBENCH_BREAK=grant`, `release` or `silent` breaks the
//! lock on purpose, for lockbench to catch it.

use serde_json::{json, Value};
use std::any::type_name;
use std::collections::HashMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, Instant};

/// Error is why a request failed. Any other error becomes one by `?`; then the outcome is unknown.
pub struct Error {
    kind: &'static str,
    class: String,
    text: String,
}

impl Error {
    /// Another owner holds the lock.
    pub fn refused(text: impl ToString) -> Self {
        Self::new("refused", text)
    }

    /// This owner does not hold the lock any more.
    pub fn not_held(text: impl ToString) -> Self {
        Self::new("not-held", text)
    }

    /// The request certainly did nothing, and will do nothing.
    pub fn no_effect(text: impl ToString) -> Self {
        Self::new("no-effect", text)
    }

    /// The request may have done something.
    pub fn unknown(text: impl ToString) -> Self {
        Self::new("unknown", text)
    }

    fn new(kind: &'static str, text: impl ToString) -> Self {
        Self {
            kind,
            class: type_name::<Self>().into(),
            text: text.to_string(),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.class, self.text)
    }
}

impl<E: std::error::Error> From<E> for Error {
    fn from(e: E) -> Self {
        Self {
            kind: "unknown",
            class: type_name::<E>().into(),
            text: e.to_string(),
        }
    }
}

pub type Result<T> = std::result::Result<T, Error>;

/// Lock is the lock of an owner. [`Lock::CAN`] names the optional methods that the lock has.
pub trait Lock: Sized {
    /// Hold is what a grant is remembered by.
    type Hold;

    /// The name of the design, best as FAMILY/VARIANT.
    const NAME: &'static str;
    /// The name of the crate; its version is that of Cargo.lock.
    const LIBRARY: &'static str;
    /// The abilities, of `extend`, `ttl`, `release_after`, `fence`, `reentrant` and `wait`.
    const CAN: &'static [&'static str] = &[];

    /// Returns further fields of the hello, such as `{"grain_ms": 1000}`.
    fn hello() -> Value {
        json!({})
    }

    /// Connects to the server at `url`. Every key begins with `prefix` already.
    fn connect(url: &str, prefix: &str) -> Result<Self>;

    /// Makes one attempt. None means that another owner has the lock.
    fn acquire(&mut self, key: &str, ttl: Duration) -> Result<Option<Self::Hold>>;

    /// Acquires as [`Lock::acquire`] does, but waits for at most `wait`.
    fn acquire_within(
        &mut self,
        _key: &str,
        _ttl: Duration,
        _wait: Duration,
    ) -> Result<Option<Self::Hold>> {
        Err(Error::no_effect("it cannot wait"))
    }

    /// Releases a hold. The error is that of [`Error::not_held`] if the lock was lost.
    fn release(&mut self, hold: &mut Self::Hold) -> Result<()>;

    /// Prolongs a hold to `ttl` from now on. Its error is as that of release.
    fn extend(&mut self, _hold: &mut Self::Hold, _ttl: Duration) -> Result<()> {
        Err(Error::no_effect("it cannot extend"))
    }

    /// Returns the time left, zero if the lock is gone.
    fn time_left(&mut self, _hold: &mut Self::Hold) -> Result<Duration> {
        Err(Error::no_effect("it cannot tell the time left"))
    }

    /// Releases a hold, and keeps all owners out for a while.
    fn release_after(&mut self, _hold: &mut Self::Hold, _after: Duration) -> Result<()> {
        Err(Error::no_effect("it cannot release later"))
    }

    /// Returns the number of a grant.
    fn fence(&self, _hold: &Self::Hold) -> Option<String> {
        None
    }
}

struct Server<L: Lock> {
    lock: Option<L>,                      // None if there is no server
    holds: HashMap<u64, Option<L::Hold>>, // None if LOCKBENCH_BREAK granted it
    last: u64,
    broken: String,
}

impl<L: Lock> Server<L> {
    /// Returns the answer to a request. A panic of the library leaves the outcome unknown.
    fn answer(&mut self, request: &Value) -> Value {
        let done = catch_unwind(AssertUnwindSafe(|| self.perform(request)))
            .unwrap_or_else(|_| Err(Error::unknown("the library panicked")));
        match done {
            Ok(ok) => json!({"id": request["id"], "ok": ok}),
            Err(e) => {
                json!({"id": request["id"], "error": e.kind, "class": e.class, "text": e.text})
            }
        }
    }

    fn perform(&mut self, request: &Value) -> Result<Value> {
        let op = request["op"].as_str().unwrap_or_default();
        match op {
            "noop" => return Ok(json!({})),
            "acquire" | "release" | "repeat" => {}
            "extend" | "ttl" | "release_after" if L::CAN.contains(&op) => {}
            _ => return Err(Error::no_effect(format!("unknown op {op}"))),
        }
        let lock = self
            .lock
            .as_mut()
            .ok_or_else(|| Error::no_effect("no server"))?;
        let ttl = millis(&request["ttl_ms"]);
        let key = request["key"].as_str().unwrap_or_default();
        if op == "acquire" {
            let hold = match millis(&request["wait_ms"]) {
                Duration::ZERO => lock.acquire(key, ttl),
                wait => lock.acquire_within(key, ttl, wait),
            };
            return self.grant(hold);
        }
        if op == "repeat" {
            let began = Instant::now();
            for _ in 0..request["times"].as_u64().unwrap_or_default() {
                let hold = lock.acquire(key, ttl)?;
                lock.release(&mut hold.ok_or_else(|| Error::refused("another owner has it"))?)?;
            }
            return Ok(json!({"took_ns": began.elapsed().as_nanos() as u64}));
        }
        let number = request["hold"].as_u64().unwrap_or_default();
        let hold = self
            .holds
            .get_mut(&number)
            .ok_or_else(|| Error::not_held("no such hold"))?;
        if op.starts_with("release") {
            let Some(hold) = hold.as_mut().filter(|_| self.broken != "release") else {
                return Ok(json!({}));
            };
            let released = match op {
                "release" => lock.release(hold),
                _ => lock.release_after(hold, millis(&request["after_ms"])),
            };
            return match released {
                Err(e) if e.kind != "not-held" || self.broken != "silent" => Err(e),
                _ => Ok(json!({})),
            };
        }
        let hold = hold
            .as_mut()
            .ok_or_else(|| Error::unknown("LOCKBENCH_BREAK granted it"))?;
        if op == "ttl" {
            return Ok(json!({"ttl_ms": lock.time_left(hold)?.as_millis() as u64}));
        }
        lock.extend(hold, ttl)?;
        Ok(json!({}))
    }

    /// Returns the answer to an acquire by its result.
    fn grant(&mut self, acquired: Result<Option<L::Hold>>) -> Result<Value> {
        let hold = match acquired {
            Err(e) if e.kind != "refused" => return Err(e),
            Err(e) if self.broken != "grant" => return Err(e),
            Ok(None) if self.broken != "grant" => {
                return Err(Error::refused("another owner has it"))
            }
            other => other.unwrap_or(None),
        };
        self.last += 1;
        let mut granted = json!({"hold": self.last});
        if let (Some(lock), Some(hold)) = (&self.lock, &hold) {
            if let Some(fence) = lock.fence(hold) {
                granted["fence"] = fence.into();
            }
        }
        self.holds.insert(self.last, hold);
        Ok(granted)
    }
}

/// Serves a lock until lockbench stops it.
pub fn serve<L: Lock>() -> Result<()> {
    let mut out = take_stdout()?;
    let mut lines = io::stdin().lock().lines();
    let Some(first) = lines.next() else {
        return Ok(());
    };
    let first: Value = serde_json::from_str(&first?)?;
    let mut server = Server::<L> {
        lock: None,
        holds: HashMap::new(),
        last: 0,
        broken: std::env::var("LOCKBENCH_BREAK").unwrap_or_default(),
    };
    if let Some(url) = first["servers"][0].as_str() {
        server.lock = Some(L::connect(
            url,
            first["prefix"].as_str().unwrap_or_default(),
        )?);
    }
    say(&mut out, &hello::<L>())?;
    for line in lines {
        let message: Value = serde_json::from_str(&line?)?;
        if message["stop"] == true {
            break;
        }
        if message["op"].is_string() {
            say(&mut out, &server.answer(&message))?;
        }
    }
    Ok(())
}

fn hello<L: Lock>() -> Value {
    let mut hello = json!({"hello": 1, "name": L::NAME, "library": L::LIBRARY,
        "version": locked(L::LIBRARY), "runtime": "Rust", "owners": 1, "can": L::CAN});
    for (field, value) in L::hello().as_object().into_iter().flatten() {
        hello[field] = value.clone();
    }
    hello
}

/// Returns the version of a crate in Cargo.lock.
fn locked(name: &str) -> &'static str {
    let mut lines = include_str!("../Cargo.lock").lines();
    let name = format!("name = \"{name}\"");
    lines.find(|line| *line == name);
    let version = lines.next().and_then(|line| line.split('"').nth(1));
    version.unwrap_or_default()
}

/// Returns standard output for the answers. From then on prints go to standard error.
fn take_stdout() -> io::Result<File> {
    let out = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(out.into())
}

fn say(out: &mut File, message: &Value) -> io::Result<()> {
    out.write_all(format!("{message}\n").as_bytes())
}

fn millis(value: &Value) -> Duration {
    Duration::from_millis(value.as_u64().unwrap_or_default())
}
