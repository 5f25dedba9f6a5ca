<?php
/** Laravel's cache lock on Redis: SET NX EX with a token; a Lua script releases it. It cannot be extended. */

declare(strict_types=1);

require_once __DIR__ . '/lockbench_adapter.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Redis/autoload.php';

use Illuminate\Cache\RedisStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Redis\RedisManager;
use Lockbench\NotHeld;

class LaravelRedis extends Lockbench\Lock
{
    const NAME = 'laravel/redis', LIBRARY = 'illuminate/cache';
    const HELLO = ['grain_ms' => 1000, 'round' => 'up'];

    private RedisStore $store;

    public static function version(): string
    {
        return Lockbench\debianVersion('php-illuminate-cache') . ', phpredis ' . phpversion('redis');
    }

    public function __construct(string $url, string $prefix)
    {
        $server = ['url' => $url, 'timeout' => 2.0, 'read_timeout' => 2.0];
        $this->store = new RedisStore(new RedisManager(null, 'phpredis', ['default' => $server]));
        $this->store->connection(); // made at the first use, otherwise
    }

    public function acquire(string $key, float $ttl)
    {
        $lock = $this->store->lock($key, (int) ceil($ttl));
        return $lock->get() ? $lock : null;
    }

    public function acquireWithin(string $key, float $ttl, float $wait)
    {
        $lock = $this->store->lock($key, (int) ceil($ttl));
        try {
            return $lock->block((int) ceil($wait)) ? $lock : null;
        } catch (LockTimeoutException $e) {
            return null;
        }
    }

    public function release($lock)
    {
        if (!$lock->release()) {
            throw new NotHeld('release() returned false');
        }
    }
}

Lockbench\serve(LaravelRedis::class);
