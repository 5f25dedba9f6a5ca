import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Interrupts acquires of Redisson's RLock with its watchdog, each of a key of its own, by a thread of
 * its own. It counts the keys that are still taken when their leases are ten times over. It is no
 * adapter: java -cp OUT/adapters.jar Interrupted.java redis://HOST:PORT [unlock]
 */
class Interrupted {
    private static final int TIMES = 400;
    private static final int LEASE_MS = 500;

    public static void main(String[] args) throws Exception {
        boolean unlocks = args.length > 1; // the owner's finally, whether it was granted the lock or not
        Config config = new Config().setLockWatchdogTimeout(LEASE_MS);
        config.useSingleServer().setAddress(args[0]);
        RedissonClient client = Redisson.create(config);
        boolean[] interrupted = new boolean[TIMES];
        for (int i = 0; i < TIMES; i++) {
            int n = i;
            RLock lock = client.getLock("interrupted-" + n);
            Thread thread = new Thread(() -> {
                try {
                    lock.lockInterruptibly();
                } catch (Exception e) { // InterruptedException, or one of Redisson that it caused
                    interrupted[n] = true;
                    Thread.interrupted();
                    if (unlocks) {
                        unlock(lock);
                    }
                }
            });
            thread.start();
            TimeUnit.MICROSECONDS.sleep(2 * n);
            thread.interrupt();
            thread.join();
        }
        TimeUnit.MILLISECONDS.sleep(10 * LEASE_MS);
        int calls = 0;
        int taken = 0;
        for (int i = 0; i < TIMES; i++) {
            calls += interrupted[i] ? 1 : 0;
            taken += interrupted[i] && client.getLock("interrupted-" + i).isLocked() ? 1 : 0;
        }
        System.out.printf("%d acquires were interrupted, and %d of their keys are taken%n", calls, taken);
        client.shutdown();
    }

    private static void unlock(RLock lock) {
        try {
            lock.unlock();
        } catch (IllegalMonitorStateException e) { // it does not hold the lock
        }
    }
}
