package lockbench;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.DistributedLock;

/**
 * Spring Integration's RedisLockRegistry: a key with the id of the registry, behind a lock of the
 * process. Its key is the prefix, a colon and the key.
 */
public class SpringIntegration extends Adapter<SpringIntegration.Hold> {
    record Hold(String key, Lock lock) {}

    private static final Duration TIMEOUT = Duration.ofSeconds(2);

    private RedisLockRegistry registry;

    public SpringIntegration() {
        super("spring-integration/spin", "spring-integration-redis",
                RedisLockRegistry.class.getPackage().getImplementationVersion());
        can("extend", "reentrant", "wait");
    }

    /** Returns connections that send each command once. */
    static LettuceConnectionFactory connections(String url) {
        ClientOptions options = ClientOptions.builder()
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .replayFilter(command -> true)
                .socketOptions(SocketOptions.builder().connectTimeout(TIMEOUT).build())
                .build();
        LettuceConnectionFactory factory = new LettuceConnectionFactory(
                LettuceConnectionFactory.createRedisConfiguration(RedisURI.create(url)),
                LettuceClientConfiguration.builder().clientOptions(options).commandTimeout(TIMEOUT).build());
        factory.setEagerInitialization(true);
        factory.afterPropertiesSet();
        factory.start();
        return factory;
    }

    @Override
    protected void connect(String url, String prefix) {
        registry = new RedisLockRegistry(connections(url), prefix);
    }

    @Override
    protected Hold acquireWithin(String key, long ttlMs, long waitMs) throws Exception {
        DistributedLock lock = registry.obtain(key);
        return lock.tryLock(Duration.ofMillis(waitMs), Duration.ofMillis(ttlMs)) ? new Hold(key, lock) : null;
    }

    @Override
    protected void release(Hold hold) throws Exception {
        try {
            hold.lock.unlock();
        } catch (ConcurrentModificationException | IllegalStateException e) {
            throw new NotHeld(e.getMessage());
        }
    }

    @Override
    protected void extend(Hold hold, long ttlMs) throws Exception {
        try {
            registry.renewLock(hold.key, Duration.ofMillis(ttlMs));
        } catch (IllegalStateException e) {
            throw new NotHeld(e.getMessage());
        }
    }

    public static void main(String[] args) {
        new SpringIntegration().serve();
    }
}
