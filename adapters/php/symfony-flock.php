<?php
/**
 * Symfony's Lock with its FlockStore: flock() on a file for each key, held while the file is open.
 * It uses no server. The files are in a folder of the system's temporary one and are not deleted.
 */

declare(strict_types=1);

require_once __DIR__ . '/lockbench_adapter.php';
require_once 'Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\LockFactory;
use Symfony\Component\Lock\Store\FlockStore;

class SymfonyFlock extends Lockbench\Lock
{
    const NAME = 'symfony/flock', LIBRARY = 'symfony/lock';
    const HELLO = ['leaseless' => true, 'release_tells' => false];

    private LockFactory $factory;

    public static function version(): string
    {
        return Lockbench\debianVersion('php-symfony-lock');
    }

    public function __construct(string $url, string $prefix)
    {
        $this->factory = new LockFactory(new FlockStore(Lockbench\folder($prefix)));
    }

    public function acquire(string $key, float $ttl)
    {
        $lock = $this->factory->createLock($key, null, false);
        return $lock->acquire(false) ? $lock : null;
    }

    public function release($lock)
    {
        $lock->release();
    }
}

Lockbench\serve(SymfonyFlock::class);
