<?php
/**
 * The PHP side of lockbench's adapter protocol, version 1.
 *
 * An adapter is a class with the methods of a lock, given to serve(), which answers lockbench's
 * requests over standard input and output; docs/adapter-protocol.md describes them.
 *
 *     class MyLock extends Lock
 *     {
 *         const NAME = 'my-lock', LIBRARY = 'my/library';
 *
 *         static function version(): string { return '1.2.3'; }
 *         function __construct(string $url, string $prefix) { ... }
 *         function acquire(string $key, float $ttl) { ... } // a hold of any type, or null if it is taken
 *         function release($hold) { ... }            // throw NotHeld if the lock was lost
 *         function extend($hold, float $ttl) { ... } // likewise; without it, no extension
 *         function acquireWithin(string $key, float $ttl, float $wait) { ... } // without it lockbench waits
 *     }
 *
 *     serve(MyLock::class);
 *
 * One process has one owner; ttl and wait are in seconds. Anything thrown but NotHeld, Refused and NoEffect leaves
 * the outcome unknown. Output goes to standard error. LOCKBENCH_BREAK=grant, release or silent breaks the
 * lock on purpose, for lockbench to catch it.
 */

declare(strict_types=1);

namespace Lockbench;

/** Another owner holds the lock. */
class Refused extends \Exception {}

/** This owner does not hold the lock any more. */
class NotHeld extends \Exception {}

/** The request certainly did nothing. */
class NoEffect extends \Exception {}

/**
 * The lock of an owner. Subclasses have the methods that their lock can do: extend($hold, $ttl),
 * timeLeft($hold), releaseAfter($hold, $seconds), fence($hold) and acquireWithin($key, $ttl, $wait), which
 * waits for at most $wait.
 */
abstract class Lock
{
    const NAME = '', LIBRARY = '';
    const HELLO = []; // further fields of the hello, such as ['grain_ms' => 1000, 'renews' => 'unseen']

    /** Returns the version of the library, found at run time. */
    abstract public static function version(): string;

    /** $url is the address of the server, and $prefix begins every key already. */
    abstract public function __construct(string $url, string $prefix);

    /** Tries once. Returns a hold of any type, or null if another owner has the lock. */
    abstract public function acquire(string $key, float $ttl);

    /** Throws NotHeld if the lock was lost. */
    abstract public function release($hold);
}

/** Operations that not every lock can do, with their methods. */
const OPTIONAL = ['extend' => 'extend', 'ttl' => 'timeLeft', 'release_after' => 'releaseAfter'];
const ERRORS = [Refused::class => 'refused', NotHeld::class => 'not-held', NoEffect::class => 'no-effect'];

/** Returns the version of an installed Debian package. */
function debianVersion(string $package): string
{
    return trim((string) shell_exec('dpkg-query -W -f \'${Version}\' ' . escapeshellarg($package)));
}

/** Returns a phpredis client of the server at $url. A command fails after 2 s without an answer. */
function connect(string $url): \Redis
{
    $address = parse_url($url);
    $client = new \Redis();
    $client->connect($address['host'], $address['port'] ?? 6379, 2.0, null, 0, 2.0);
    $credentials = array_map('rawurldecode', array_filter([$address['user'] ?? '', $address['pass'] ?? ''], 'strlen'));
    if ($credentials) {
        $client->auth(array_values($credentials));
    }
    if (!$client->select((int) ltrim($address['path'] ?? '', '/'))) {
        throw new \RedisException((string) $client->getLastError());
    }
    return $client;
}

/** Returns the name of a folder for files of a lock that needs no server, the same for all processes of a run. */
function folder(string $prefix): string
{
    return sys_get_temp_dir() . '/' . preg_replace('/[^A-Za-z0-9._-]/', '-', $prefix);
}

/** Serves a subclass of Lock until lockbench stops it. */
function serve(string $lock): void
{
    // What the lock prints is no answer: descriptor 1, the lowest free one, becomes standard error.
    $out = fopen('php://fd/1', 'w');
    fclose(STDOUT);
    $log = fopen('php://fd/2', 'w');

    $server = new Server($lock, $out);
    $server->greet(decode((string) fgets(STDIN)));
    while (($line = fgets(STDIN)) !== false) {
        $message = decode($line);
        if (!empty($message['stop'])) {
            break;
        }
        if (isset($message['op'])) {
            $server->answer($message);
        }
    }
}

function decode(string $line): array
{
    return json_decode($line, true, 16, JSON_THROW_ON_ERROR);
}

/** Returns the text of $e and of what led to it, at most 1000 bytes. */
function text(\Throwable $e): string
{
    for ($all = []; $e; $e = $e->getPrevious()) {
        $all[] = $e->getMessage();
    }
    return substr(implode(': ', $all), 0, 1000);
}

/** @internal */
class Server
{
    private ?Lock $lock = null;
    private array $holds = [];
    private int $last = 0;
    private string $broken;
    private int $began = 0;

    public function __construct(private string $type, private $out)
    {
        $this->broken = (string) getenv('LOCKBENCH_BREAK');
    }

    public function greet(array $hello): void
    {
        $type = $this->type;
        if ($hello['servers']) {
            $this->lock = new $type($hello['servers'][0], $hello['prefix']);
        }
        $this->began = hrtime(true);
        // Later versions of PHP read another clock, which is not that of other programs.
        $stamps = PHP_OS_FAMILY === 'Linux' && PHP_VERSION_ID < 80300;
        $clock = $stamps ? ['clock' => 'monotonic', 'now_ns' => $this->began % (1 << 53)] : [];
        $can = array_keys(array_filter(OPTIONAL + ['fence' => 'fence', 'wait' => 'acquireWithin'], fn ($method) => method_exists($type, $method)));
        $this->say($type::HELLO + $clock + ['hello' => 1, 'name' => $type::NAME, 'library' => $type::LIBRARY,
            'version' => $type::version(), 'runtime' => 'PHP ' . PHP_VERSION, 'owners' => 1, 'can' => $can]);
    }

    public function answer(array $request): void
    {
        $call = hrtime(true);
        try {
            $answer = ['ok' => (object) $this->do($request)];
            $end = hrtime(true);
        } catch (\Throwable $e) { // the lock's own, whatever it is
            $end = hrtime(true);
            $known = array_filter(ERRORS, fn ($type) => $e instanceof $type, ARRAY_FILTER_USE_KEY);
            $answer = ['error' => current($known) ?: 'unknown', 'class' => $e::class, 'text' => text($e)];
        }
        $this->say(['id' => $request['id']] + $answer + ['call_ns' => $call - $this->began, 'return_ns' => $end - $this->began]);
    }

    private function do(array $request): array
    {
        $op = $request['op'];
        if ($op === 'noop') {
            return [];
        }
        if ($op === 'acquire') {
            return $this->acquire($request);
        }
        if ($op === 'repeat') {
            return $this->repeat($request);
        }
        if ($op !== 'release' && !method_exists($this->lock, OPTIONAL[$op] ?? '')) {
            throw new NoEffect("unknown op $op");
        }
        if (!array_key_exists($request['hold'], $this->holds)) {
            throw new NotHeld('no such hold');
        }
        $hold = $this->holds[$request['hold']];
        if ($op === 'extend') {
            $this->lock->extend($hold, $request['ttl_ms'] / 1000);
            return [];
        }
        if ($op === 'ttl') {
            return ['ttl_ms' => (int) ($this->lock->timeLeft($hold) * 1000)];
        }
        $this->release($hold, $request['after_ms'] ?? null);
        return [];
    }

    private function repeat(array $request): array
    {
        $began = hrtime(true);
        for ($i = 0; $i < $request['times']; $i++) {
            $hold = $this->lock->acquire($request['key'], $request['ttl_ms'] / 1000);
            if ($hold === null) {
                throw new Refused('another owner has it');
            }
            $this->lock->release($hold);
        }
        return ['took_ns' => hrtime(true) - $began];
    }

    private function acquire(array $request): array
    {
        [$key, $ttl, $wait] = [$request['key'], $request['ttl_ms'] / 1000, ($request['wait_ms'] ?? 0) / 1000];
        $hold = $wait ? $this->lock->acquireWithin($key, $ttl, $wait) : $this->lock->acquire($key, $ttl);
        if ($hold === null && $this->broken !== 'grant') {
            throw new Refused('another owner has it');
        }
        $this->holds[++$this->last] = $hold;
        $got = ['hold' => $this->last];
        if ($hold !== null && method_exists($this->lock, 'fence')) {
            $got['fence'] = (string) $this->lock->fence($hold);
        }
        return $got;
    }

    private function release($hold, ?int $after): void
    {
        if ($this->broken === 'release' || $hold === null) {
            return;
        }
        try {
            if ($after === null) {
                $this->lock->release($hold);
            } else {
                $this->lock->releaseAfter($hold, $after / 1000);
            }
        } catch (NotHeld $e) {
            if ($this->broken !== 'silent') {
                throw $e;
            }
        }
    }

    private function say(array $message): void
    {
        $flags = JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;
        fwrite($this->out, json_encode($message, $flags) . "\n");
        fflush($this->out);
    }
}
