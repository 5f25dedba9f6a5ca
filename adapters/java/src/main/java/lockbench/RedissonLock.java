package lockbench;

import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Redisson's RLock with a lease: a hash with a count for its owner, which is a thread of a client.
 * Lua scripts acquire and release it.
 */
public class RedissonLock extends Adapter<RLock> {
    protected RedissonClient client;

    public RedissonLock() {
        this("redisson/lock");
    }

    protected RedissonLock(String name) {
        super(name, "redisson", version("org.redisson", "redisson"));
        can("reentrant", "wait");
    }

    @Override
    protected void connect(String url, String prefix) {
        client = Redisson.create(config(url));
    }

    /** Returns the settings of a client that tries each command once. */
    protected static Config config(String url) {
        Config config = new Config().setThreads(2).setNettyThreads(2);
        String path = URI.create(url).getPath();
        config.useSingleServer()
                .setAddress(url)
                .setDatabase(path.length() > 1 ? Integer.parseInt(path.substring(1)) : 0)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1)
                .setDnsMonitoringInterval(-1)
                .setRetryAttempts(0)
                .setTimeout(2000);
        return config;
    }

    protected RLock lock(String key) {
        return client.getLock(key);
    }

    @Override
    protected RLock acquireWithin(String key, long ttlMs, long waitMs) throws Exception {
        RLock lock = lock(key);
        return lock.tryLock(waitMs, ttlMs, TimeUnit.MILLISECONDS) ? lock : null;
    }

    @Override
    protected void release(RLock lock) throws Exception {
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException e) {
            throw new NotHeld(e.getMessage());
        }
    }

    public static void main(String[] args) {
        new RedissonLock().serve();
    }
}
