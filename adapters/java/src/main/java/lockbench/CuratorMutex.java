package lockbench;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.retry.RetryNTimes;

/**
 * Curator's InterProcessMutex: an ephemeral node of the session, whose number says whose turn it is.
 * The lease is the time-out of the session, which the client renews, so each ttl has a client. A
 * release does not tell whether the session had ended; the listener does. -Dlockbench.retries=N retries.
 */
public class CuratorMutex extends Adapter<CuratorMutex.Held> {
    record Held(InterProcessMutex mutex, CuratorFramework client) {}

    private static final int TIMEOUT_MS = 1000;
    private static final RetryNTimes RETRIES = new RetryNTimes(Integer.getInteger("lockbench.retries", 0), 100);
    private static final long GRAIN_MS = 1000; // a session that is shorter is lost on a busy machine
    private final Map<Long, CuratorFramework> clients = new ConcurrentHashMap<>();
    private String server;

    public CuratorMutex() {
        super("curator/mutex", "curator-recipes", version("org.apache.curator", "curator-recipes"));
        hello("service", "zookeeper");
        hello("renews", "unseen");
        hello("release_tells", false);
        hello("grain_ms", GRAIN_MS);
        can("wait", "lost");
    }

    @Override
    protected void connect(String url, String prefix) throws Exception {
        URI at = URI.create(url);
        server = at.getRawAuthority() + at.getRawPath();
        System.setProperty("javax.net.ssl.trustStore", "NONE"); // else it reads all certificates at its start
        System.setProperty("zookeeper.request.timeout", String.valueOf(TIMEOUT_MS)); // else it waits without end
        try {
            Held first = acquireWithin(prefix + "first", GRAIN_MS, 0); // it loads the classes, or it is slow
            if (first != null) {
                release(first);
            }
        } catch (Exception e) {
            // The server restarts, or a reply was lost: then the first acquire is slow.
        }
    }

    private CuratorFramework client(long ttlMs) {
        return clients.computeIfAbsent((ttlMs + GRAIN_MS - 1) / GRAIN_MS * GRAIN_MS, ttl -> {
            CuratorFramework client = CuratorFrameworkFactory.newClient(server, ttl.intValue(), TIMEOUT_MS, RETRIES);
            client.getConnectionStateListenable().addListener((of, state) ->
                    lost(held -> state == ConnectionState.LOST && held.client == client));
            client.start();
            return client;
        });
    }

    @Override
    protected Held acquireWithin(String key, long ttlMs, long waitMs) throws Exception {
        String path = "/" + URLEncoder.encode(key, StandardCharsets.UTF_8).replace("%3A", ":");
        CuratorFramework client = client(ttlMs);
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        return mutex.acquire(waitMs, TimeUnit.MILLISECONDS) ? new Held(mutex, client) : null;
    }

    @Override
    protected void release(Held held) throws Exception {
        held.mutex.release();
    }

    public static void main(String[] args) {
        new CuratorMutex().serve();
    }
}
