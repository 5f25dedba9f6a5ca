<?php
/**
 * Symfony's Lock with its RedisStore: a sorted set with a token; Lua scripts take, extend and release it.
 *
 * acquire() is two commands: the first takes the lock for the store's own lease, 300 s if nothing else is
 * given, and the second changes the lease to that of the lock. release() deletes, then asks whether
 * the lock is still held; if it was lost, nothing is said.
 */

declare(strict_types=1);

require_once __DIR__ . '/lockbench_adapter.php';
require_once 'Symfony/Component/Lock/autoload.php';

use Lockbench\NotHeld;
use Symfony\Component\Lock\Exception\LockConflictedException;
use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\RedisStore;

class SymfonyRedis extends Lockbench\Lock
{
    const NAME = 'symfony/redis', LIBRARY = 'symfony/lock';
    const HELLO = ['release_tells' => false];

    private LockFactory $factory;
    private int $prefix;

    public static function version(): string
    {
        return Lockbench\debianVersion('php-symfony-lock') . ', phpredis ' . phpversion('redis');
    }

    public function __construct(string $url, string $prefix)
    {
        $client = Lockbench\connect($url);
        // The store also writes a key of its own. The client puts the prefix before every key.
        $client->setOption(Redis::OPT_PREFIX, $prefix);
        $this->prefix = strlen($prefix);
        $this->factory = new LockFactory(new RedisStore($client));
    }

    public function acquire(string $key, float $ttl)
    {
        $lock = $this->factory->createLock(substr($key, $this->prefix), $ttl, false);
        return $lock->acquire(false) ? $lock : null;
    }

    public function release($lock)
    {
        $lock->release();
    }

    public function extend($lock, float $ttl)
    {
        try {
            $lock->refresh($ttl);
        } catch (LockConflictedException $e) {
            throw new NotHeld($e->getMessage(), 0, $e);
        }
    }
}

Lockbench\serve(SymfonyRedis::class);
