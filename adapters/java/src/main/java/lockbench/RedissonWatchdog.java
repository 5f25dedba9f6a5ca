package lockbench;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
        RedissonClient client = clients.computeIfAbsent(ttlMs,
                ttl -> Redisson.create(config(url).setLockWatchdogTimeout(ttl)));
        RLock lock = client.getLock(key);
        return lock.tryLock() ? lock : null;
    }

    public static void main(String[] args) {
        new RedissonWatchdog().serve();
    }
}
