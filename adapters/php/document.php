<?php
/**
 * The timestamp lock of an article on overselling, the design that lockbench has as setnx-getset/timestamp,
 * with the article's faults. The value is the time of acquiring, in whole seconds of the client's clock.
 * A stamp that is as old as the time-out may be taken over, and no value says who the owner is.
 */

declare(strict_types=1);

require_once __DIR__ . '/lockbench_adapter.php';

use Lockbench\NotHeld;

class DocumentTimestamp extends Lockbench\Lock
{
    const NAME = 'php-document/timestamp', LIBRARY = 'phpredis';
    const HELLO = ['grain_ms' => 1000, 'round' => 'up'];

    private Redis $client;

    public static function version(): string
    {
        return phpversion('redis');
    }

    public function __construct(string $url, string $prefix)
    {
        $this->client = Lockbench\connect($url);
    }

    public function acquire(string $key, float $ttl)
    {
        $timeout = (int) ceil($ttl);
        $hold = [$key, $timeout];
        if ($this->call('set', $key, time(), ['NX', 'EX' => $timeout])) {
            return $hold;
        }
        if ($this->live($this->call('get', $key), $timeout)) {
            return null;
        }
        if ($this->live($this->call('getSet', $key, time()), $timeout)) {
            return null;
        }
        $this->call('expire', $key, $timeout);
        return $hold;
    }

    public function release($hold)
    {
        [$key, $timeout] = $hold;
        if (!$this->live($this->call('get', $key), $timeout)) {
            throw new NotHeld('the stamp is as old as the time-out');
        }
        $this->call('del', $key);
    }

    /** Reports whether a stamp is younger than the time-out. A missing one, false, counts as 0. */
    private function live($stamp, int $timeout): bool
    {
        return time() - (int) $stamp < $timeout;
    }

    /** Runs a command. phpredis returns false for an error reply, too; here it throws. */
    private function call(string $command, ...$arguments)
    {
        $this->client->clearLastError();
        $result = $this->client->$command(...$arguments);
        if ($this->client->getLastError() !== null) {
            throw new RedisException($this->client->getLastError());
        }
        return $result;
    }
}

Lockbench\serve(DocumentTimestamp::class);
