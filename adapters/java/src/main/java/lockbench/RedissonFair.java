package lockbench;

import org.redisson.api.RLock;

/** Redisson's fair lock with a lease: an RLock that is granted in the order of a queue. */
public class RedissonFair extends RedissonLock {
    public RedissonFair() {
        super("redisson/fair");
    }

    @Override
    protected RLock lock(String key) {
        return client.getFairLock(key);
    }

    public static void main(String[] args) {
        new RedissonFair().serve();
    }
}
