<?php
/**
 * Laravel's cache lock on files: a file for each key with a time in whole seconds and a token.
 * Release reads the file, then deletes it. The lock cannot be extended.
 *
 * It uses no server. The files are in a folder of the system's temporary one.
 */

declare(strict_types=1);

require_once __DIR__ . '/lockbench_adapter.php';
require_once 'Illuminate/Cache/autoload.php';
require_once 'Illuminate/Filesystem/autoload.php';

use Illuminate\Cache\FileStore;
use Illuminate\Contracts\Cache\LockTimeoutException;
use Illuminate\Filesystem\Filesystem;
use Lockbench\NotHeld;

class LaravelFile extends Lockbench\Lock
{
    const NAME = 'laravel/file', LIBRARY = 'illuminate/cache';
    const HELLO = ['grain_ms' => 1000, 'round' => 'up'];

    private FileStore $store;

    public static function version(): string
    {
        return Lockbench\debianVersion('php-illuminate-cache');
    }

    public function __construct(string $url, string $prefix)
    {
        // The framework turns warnings into exceptions when it starts, and the store relies on it.
        set_error_handler(function (int $level, string $text, string $file, int $line) {
            if (error_reporting() & $level & ~(E_DEPRECATED | E_USER_DEPRECATED)) {
                throw new ErrorException($text, 0, $level, $file, $line);
            }
            return true;
        });
        $this->store = new FileStore(new Filesystem(), Lockbench\folder($prefix));
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

Lockbench\serve(LaravelFile::class);
