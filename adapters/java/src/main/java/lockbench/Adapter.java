package lockbench;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/**
 * The Java side of lockbench's adapter protocol, version 1.
 *
 * <p>An adapter is a subclass with the methods of a lock. Its main calls serve, which answers
 * lockbench's requests over standard input and output; docs/adapter-protocol.md describes them.
 * One process has several owners. The requests of an owner all run on one thread, which is its own,
 * so the methods of an adapter are called by several threads at once.
 *
 * <p>Any exception but Refused, NotHeld and NoEffect leaves the outcome unknown. Prints go to
 * standard error. LOCKBENCH_BREAK=grant, release or silent breaks the lock on purpose, for lockbench
 * to catch it.
 *
 * @param <H> the type of a hold
 */
public abstract class Adapter<H> {
    /** Another owner holds the lock. */
    public static class Refused extends Exception {
        public Refused(String text) {
            super(text);
        }
    }

    /** The owner does not hold the lock any more. */
    public static class NotHeld extends Exception {
        public NotHeld(String text) {
            super(text);
        }
    }

    /** The request certainly did nothing. */
    public static class NoEffect extends Exception {
        public NoEffect(String text) {
            super(text);
        }
    }

    private static final int OWNERS = 64;

    static { // else each process takes 0.1 s longer to start for Flight Recorder's events of its client
        System.setProperty("io.netty.jfr.enabled", "false");
        System.setProperty("io.lettuce.core.jfr", "false");
    }

    private final JsonObject hello = new JsonObject();
    private final JsonArray can = new JsonArray();
    private Server<H> server;

    protected Adapter(String name, String library, String version) {
        hello.addProperty("hello", 1);
        hello.addProperty("name", name);
        hello.addProperty("library", library);
        hello.addProperty("version", version);
        hello.addProperty("runtime", System.getProperty("java.vm.name") + " " + Runtime.version().feature());
        hello.addProperty("owners", OWNERS);
        hello.add("can", can);
    }

    /** Connects to the server. The prefix begins every key already. */
    protected abstract void connect(String url, String prefix) throws Exception;

    /** Tries once to acquire the lock of a key. It returns null if another owner has the lock. */
    protected H acquire(String key, long ttlMs) throws Exception {
        return acquireWithin(key, ttlMs, 0);
    }

    /** Acquires the lock of a key as acquire does, but waits for at most waitMs, for a lock that can "wait". */
    protected H acquireWithin(String key, long ttlMs, long waitMs) throws Exception {
        throw new NoEffect("neither acquire nor acquireWithin is overridden");
    }

    /** Releases a hold. It throws NotHeld if the lock was lost. */
    protected abstract void release(H hold) throws Exception;

    /** Makes the lease end ttlMs from now. It throws NotHeld if the lock was lost. */
    protected void extend(H hold, long ttlMs) throws Exception {
        throw new NoEffect("unknown op extend");
    }

    /** Returns the time left in milliseconds, 0 if the lock is gone. */
    protected long timeLeft(H hold) throws Exception {
        throw new NoEffect("unknown op ttl");
    }

    /** Releases a hold. Nobody is granted the key during the next afterMs. */
    protected void releaseAfter(H hold, long afterMs) throws Exception {
        throw new NoEffect("unknown op release_after");
    }

    /** Returns the number of a grant, for a lock that can "fence". */
    protected String fence(H hold) {
        throw new UnsupportedOperationException("fence");
    }

    /** Reports that the holds that match are lost, for a lock that can say "lost". Any thread may call it. */
    protected final void lost(Predicate<H> matches) {
        server.lost(matches);
    }

    /** Adds abilities to the hello, such as "extend". */
    protected final void can(String... abilities) {
        for (String ability : abilities) {
            can.add(ability);
        }
    }

    /** Adds a text to the hello, such as "renews". */
    protected final void hello(String field, String value) {
        hello.addProperty(field, value);
    }

    /** Adds a truth value to the hello, such as "release_tells". */
    protected final void hello(String field, boolean value) {
        hello.addProperty(field, value);
    }

    /** Adds a number to the hello, such as "grain_ms". */
    protected final void hello(String field, long value) {
        hello.addProperty(field, value);
    }

    /** Returns the version of a library that Maven has built, and an empty text if it does not say. */
    protected static String version(String group, String artifact) {
        String name = "/META-INF/maven/" + group + "/" + artifact + "/pom.properties";
        Properties properties = new Properties();
        try (InputStream in = Adapter.class.getResourceAsStream(name)) {
            if (in != null) {
                properties.load(in);
            }
        } catch (IOException e) {
            System.err.println(name + ": " + e);
        }
        return properties.getProperty("version", "");
    }

    /** Serves the lock until lockbench stops it. It ends the process. */
    public final void serve() {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what the lock prints is no answer
        int status = 0;
        try {
            server = new Server<>(this, out);
            server.run(new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)));
        } catch (Throwable e) {
            e.printStackTrace();
            status = 1;
        }
        Runtime.getRuntime().halt(status); // threads of the library may never end
    }

    private static final class Server<H> {
        /** A hold of the lock. It is null if the lock is broken on purpose and was refused. */
        private record Hold<H>(H value) {}

        private final Adapter<H> lock;
        private final PrintStream out;
        private final String broken = System.getenv().getOrDefault("LOCKBENCH_BREAK", "");
        private final Map<Long, ExecutorService> owners = new HashMap<>();
        private final Map<Long, Hold<H>> holds = new ConcurrentHashMap<>();
        private final AtomicLong last = new AtomicLong();
        private long began;

        Server(Adapter<H> lock, PrintStream out) {
            this.lock = lock;
            this.out = out;
        }

        void run(BufferedReader in) throws Exception {
            greet(parse(in.readLine()));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                JsonObject message = parse(line);
                if (message.has("stop") && message.get("stop").getAsBoolean()) {
                    return;
                }
                if (message.has("op")) {
                    thread(message.get("owner").getAsLong()).execute(() -> answer(message));
                }
            }
        }

        private static JsonObject parse(String line) {
            return JsonParser.parseString(line).getAsJsonObject();
        }

        /** Returns the thread of an owner. Many locks belong to the thread that acquired them. */
        private ExecutorService thread(long owner) {
            return owners.computeIfAbsent(owner, n -> Executors.newSingleThreadExecutor(
                    work -> new Thread(work, "owner-" + n)));
        }

        private void say(JsonObject message) {
            synchronized (out) {
                out.print(message + "\n");
                out.flush();
            }
        }

        void lost(Predicate<H> matches) {
            holds.forEach((number, hold) -> {
                if (hold.value != null && matches.test(hold.value)) {
                    JsonObject report = new JsonObject();
                    report.addProperty("lost", number);
                    say(report);
                }
            });
        }

        private void greet(JsonObject hello) throws Exception {
            JsonArray servers = hello.getAsJsonArray("servers");
            if (servers != null && !servers.isEmpty()) {
                lock.connect(servers.get(0).getAsString(), hello.get("prefix").getAsString());
            }
            began = System.nanoTime();
            if (System.getProperty("os.name").equals("Linux")) { // where HotSpot reads CLOCK_MONOTONIC
                lock.hello("clock", "monotonic");
                lock.hello("now_ns", began & ((1L << 53) - 1));
            }
            say(lock.hello);
        }

        private void answer(JsonObject request) {
            JsonObject answer = new JsonObject();
            answer.add("id", request.get("id"));
            long call = System.nanoTime();
            long end;
            try {
                JsonObject ok = perform(request);
                end = System.nanoTime();
                answer.add("ok", ok);
            } catch (Throwable e) { // the lock's own, whatever it is
                end = System.nanoTime();
                answer.addProperty("error", error(e));
                answer.addProperty("class", e.getClass().getSimpleName());
                answer.addProperty("text", String.valueOf(e.getMessage()));
            }
            answer.addProperty("call_ns", call - began);
            answer.addProperty("return_ns", end - began);
            say(answer);
        }

        private static String error(Throwable e) {
            if (e instanceof Refused) {
                return "refused";
            }
            if (e instanceof NotHeld) {
                return "not-held";
            }
            return e instanceof NoEffect ? "no-effect" : "unknown";
        }

        private JsonObject perform(JsonObject request) throws Exception {
            JsonObject ok = new JsonObject();
            String op = request.get("op").getAsString();
            switch (op) {
                case "noop" -> {}
                case "acquire" -> acquire(request, ok);
                case "repeat" -> ok.addProperty("took_ns", repeat(request));
                case "release" -> release(request, null);
                case "release_after" -> release(request, number(request, "after_ms"));
                case "extend" -> lock.extend(hold(request).value, number(request, "ttl_ms"));
                case "ttl" -> ok.addProperty("ttl_ms", lock.timeLeft(hold(request).value));
                default -> throw new NoEffect("unknown op " + op);
            }
            return ok;
        }

        private static long number(JsonObject request, String field) {
            return request.get(field).getAsLong();
        }

        private Hold<H> hold(JsonObject request) throws NotHeld {
            Hold<H> hold = holds.get(number(request, "hold"));
            if (hold == null) {
                throw new NotHeld("no such hold");
            }
            return hold;
        }

        private long repeat(JsonObject request) throws Exception {
            String key = request.get("key").getAsString();
            long ttlMs = number(request, "ttl_ms");
            long times = number(request, "times");
            long began = System.nanoTime();
            for (long i = 0; i < times; i++) {
                H hold = lock.acquire(key, ttlMs);
                if (hold == null) {
                    throw new Refused("another owner has it");
                }
                lock.release(hold);
            }
            return System.nanoTime() - began;
        }

        private void acquire(JsonObject request, JsonObject ok) throws Exception {
            String key = request.get("key").getAsString();
            long ttlMs = number(request, "ttl_ms");
            long waitMs = request.has("wait_ms") ? number(request, "wait_ms") : 0;
            H value = waitMs > 0 ? lock.acquireWithin(key, ttlMs, waitMs) : lock.acquire(key, ttlMs);
            if (value == null && !broken.equals("grant")) {
                throw new Refused("another owner has it");
            }
            long number = last.incrementAndGet();
            holds.put(number, new Hold<>(value));
            ok.addProperty("hold", number);
            if (value != null && lock.can.contains(new JsonPrimitive("fence"))) {
                ok.addProperty("fence", lock.fence(value));
            }
        }

        /** Releases a hold. It forgets the hold unless the outcome is unknown. */
        private void release(JsonObject request, Long afterMs) throws Exception {
            Hold<H> hold = hold(request);
            boolean known = true;
            try {
                if (broken.equals("release") || hold.value == null) {
                    return;
                }
                known = false;
                if (afterMs == null) {
                    lock.release(hold.value);
                } else {
                    lock.releaseAfter(hold.value, afterMs);
                }
                known = true;
            } catch (NotHeld e) {
                known = true;
                if (!broken.equals("silent")) {
                    throw e;
                }
            } finally {
                if (known) {
                    holds.remove(number(request, "hold"));
                }
            }
        }
    }
}
