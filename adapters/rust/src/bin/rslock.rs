//! rslock's LockManager: SET NX PX with a token; Lua scripts release and extend it.
//!
//! The library answers a refusal and a failed request alike, as Unavailable. Then the adapter has
//! the library read the key: the lock is refused if the key has a value, and the outcome is unknown
//! if not. An extend that fails is judged likewise. The time-out of 0.5 s is the library's own.

use lockbench_adapters::{serve, Error, Lock, Result};
use rslock::LockError::{RedisKeyMismatch as KeyMismatch, RedisKeyNotFound as KeyNotFound};
use rslock::{LockError::Unavailable, LockManager};
use serde_json::{json, Value};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

struct Rslock {
    manager: LockManager,
    runtime: Runtime,
}

impl Lock for Rslock {
    type Hold = rslock::Lock;

    const NAME: &'static str = "rslock/lock-manager";
    const LIBRARY: &'static str = "rslock";
    const CAN: &'static [&'static str] = &["extend"];

    fn hello() -> Value {
        json!({"release_tells": false})
    }

    fn connect(url: &str, _prefix: &str) -> Result<Self> {
        let mut manager = LockManager::new(vec![url]);
        manager.set_retry(0, Duration::ZERO);
        Ok(Self {
            manager,
            runtime: Builder::new_current_thread().enable_all().build()?,
        })
    }

    fn acquire(&mut self, key: &str, ttl: Duration) -> Result<Option<Self::Hold>> {
        let manager = &self.manager;
        self.runtime.block_on(async {
            let failure = match manager.lock(key, ttl).await {
                Ok(lock) => return Ok(Some(lock)),
                Err(e) => e,
            };
            let value = manager.query_redis_for_key_value(key.as_bytes()).await;
            match (failure, value) {
                (Unavailable, Ok(Some(_))) => Ok(None),
                (e, _) => Err(e.into()),
            }
        })
    }

    fn release(&mut self, lock: &mut Self::Hold) -> Result<()> {
        self.runtime.block_on(self.manager.unlock(lock));
        Ok(())
    }

    fn extend(&mut self, lock: &mut Self::Hold, ttl: Duration) -> Result<()> {
        self.runtime.block_on(async {
            let failure = match self.manager.extend(lock, ttl).await {
                Ok(extended) => {
                    *lock = extended;
                    return Ok(());
                }
                Err(e) => e,
            };
            match (failure, self.manager.is_freed(lock).await) {
                (Unavailable, Err(e @ (KeyMismatch | KeyNotFound))) => Err(Error::not_held(e)),
                (e, _) => Err(e.into()),
            }
        })
    }
}

fn main() -> Result<()> {
    serve::<Rslock>()
}
