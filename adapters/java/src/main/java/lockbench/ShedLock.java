package lockbench;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

/**
 * ShedLock with its Redis provider: SET NX PX with a token. By default, an unlock deletes the key of
 * whoever holds it; with the argument "safe", the provider's safeUpdate compares the token first.
 * The key is the prefix, an environment and the key. A lock that was extended is a new object, so a
 * hold is a reference to it.
 */
public class ShedLock extends Adapter<AtomicReference<SimpleLock>> {
    private final boolean safe;
    private LockProvider provider;

    public ShedLock(boolean safe) {
        super(safe ? "shedlock/redis-safe" : "shedlock/redis", "shedlock", version("net.javacrumbs.shedlock", "shedlock-core"));
        this.safe = safe;
        can("extend");
        hello("release_tells", false);
    }

    @Override
    protected void connect(String url, String prefix) {
        provider = new RedisLockProvider.Builder(SpringIntegration.connections(url))
                .keyPrefix(prefix)
                .environment("env")
                .safeUpdate(safe)
                .build();
    }

    @Override
    protected AtomicReference<SimpleLock> acquire(String key, long ttlMs) {
        LockConfiguration wish = new LockConfiguration(
                ClockProvider.now(), key, Duration.ofMillis(ttlMs), Duration.ZERO);
        return provider.lock(wish).map(AtomicReference::new).orElse(null);
    }

    @Override
    protected void release(AtomicReference<SimpleLock> hold) throws Exception {
        try {
            hold.get().unlock();
        } catch (IllegalStateException e) { // an extend has told that the lock was lost
            throw new NotHeld(e.getMessage());
        }
    }

    @Override
    protected void extend(AtomicReference<SimpleLock> hold, long ttlMs) throws Exception {
        hold.set(hold.get().extend(Duration.ofMillis(ttlMs), Duration.ZERO)
                .orElseThrow(() -> new NotHeld("the lock was not extended")));
    }

    public static void main(String[] args) {
        new ShedLock(args.length > 0 && args[0].equals("safe")).serve();
    }
}
