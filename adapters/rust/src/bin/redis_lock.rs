//! redis-lock's MultiResourceLock, of one resource: functions on the server take and release it.
//!
//! The library connects for each request, and its connections have no time-out of their own. It puts
//! "lock:" before the key.

use lockbench_adapters::{serve, Error, Lock, Result};
use redis::Client;
use redis_lock::{setup, MultiResourceLock};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(2);
/// The pause between two attempts of an acquire that waits; the default of the library is 1 s.
const PAUSE: Duration = Duration::from_millis(100);

struct RedisLock {
    locks: MultiResourceLock,
    runtime: Runtime,
}

impl Lock for RedisLock {
    type Hold = String;

    const NAME: &'static str = "redis-lock/multi-resource";
    const LIBRARY: &'static str = "redis-lock";
    const CAN: &'static [&'static str] = &["wait"];

    fn connect(url: &str, _prefix: &str) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let client = Client::open(url)?;
        runtime
            .block_on(async { timeout(PATIENCE, setup(&client)).await })?
            .map_err(Error::unknown)?;
        Ok(Self {
            locks: MultiResourceLock::new(client)?,
            runtime,
        })
    }

    fn acquire(&mut self, key: &str, ttl: Duration) -> Result<Option<Self::Hold>> {
        let keys = [key.to_string()];
        let attempt = async { timeout(PATIENCE, self.locks.try_acquire(&keys, ttl)).await };
        Ok(self.runtime.block_on(attempt)??)
    }

    fn acquire_within(
        &mut self,
        key: &str,
        ttl: Duration,
        wait: Duration,
    ) -> Result<Option<Self::Hold>> {
        let keys = [key.to_string()];
        let waiting = async {
            let granted = self.locks.acquire(&keys, ttl, wait, PAUSE);
            timeout(wait + PATIENCE, granted).await
        };
        Ok(self.runtime.block_on(waiting)??)
    }

    fn release(&mut self, id: &mut Self::Hold) -> Result<()> {
        let release = async { timeout(PATIENCE, self.locks.release(id)).await };
        match self.runtime.block_on(release)?? {
            0 => Err(Error::not_held("no key was released")),
            _ => Ok(()),
        }
    }
}

fn main() -> Result<()> {
    serve::<RedisLock>()
}
