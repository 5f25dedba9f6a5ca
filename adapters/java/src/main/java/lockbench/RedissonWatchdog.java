package lockbench;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/**
 * Redisson's RLock without a lease. The client renews the lock every third of its watchdog's
 * timeout, until the lock is released. The timeout belongs to the client, so each ttl has a client.
 */
public class RedissonWatchdog extends RedissonLock {
    private final Map<Long, RedissonClient> clients = new ConcurrentHashMap<>();
    private String url;

    public RedissonWatchdog() {
        super("redisson/watchdog");
        hello("renews", "unseen");
    }

    @Override
    protected void connect(String url, String prefix) {
        this.url = url;
        Redisson.create(config(url)).shutdown(); // it loads the classes, or the first acquire is slow
    }

    @Override
    protected RLock acquire(String key, long ttlMs) {
        RLock lock = lock(key, ttlMs);
        return lock.tryLock() ? lock : null;
    }

    @Override
    protected RLock acquireWithin(String key, long ttlMs, long waitMs) throws Exception {
        RLock lock = lock(key, ttlMs);
        return lock.tryLock(waitMs, TimeUnit.MILLISECONDS) ? lock : null;
    }

    private RLock lock(String key, long ttlMs) {
        RedissonClient client = clients.computeIfAbsent(ttlMs,
                ttl -> Redisson.create(config(url).setLockWatchdogTimeout(ttl)));
        return client.getLock(key);
    }

    public static void main(String[] args) {
        new RedissonWatchdog().serve();
    }
}
