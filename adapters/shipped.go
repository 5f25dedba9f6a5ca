package adapters

import "strings"

// A Shipped is an adapter that comes with lockbench.
type Shipped struct {
	Language string
	// Name is that of its design.
	Name string
	// command is for a shell: {here} is the folder of adapters, {libraries} that of adapters/install.
	command string
	// Unsound says what is wrong with the lock, so that a run breaks its claims or may do so; empty for a
	// lock that is believed to be sound.
	Unsound string
}

// Command returns the command of the adapter. here is the folder adapters, and libraries the folder
// that adapters/install filled.
func (s Shipped) Command(here, libraries string) string {
	return strings.NewReplacer("{here}", here, "{libraries}", libraries).Replace(s.command)
}

// AllShipped returns the adapters that come with lockbench, language by language.
func AllShipped() []Shipped {
	python := func(file, name, unsound string) Shipped {
		return Shipped{"python", name, "exec '{libraries}/python/bin/python' -B '{here}/python/" + file + "'", unsound}
	}
	node := func(words, name, unsound string) Shipped {
		return Shipped{"node", name, "NODE_PATH='{libraries}/node/node_modules' exec node '{here}/node/" + words, unsound}
	}
	php := func(file, name, unsound string) Shipped {
		return Shipped{"php", name, "exec php '{here}/php/" + file + "'", unsound}
	}
	java := func(words, name, unsound string) Shipped {
		return Shipped{"java", name, "exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -cp '{libraries}/java/adapters.jar' lockbench." + words, unsound}
	}
	rust := func(file, name, unsound string) Shipped {
		return Shipped{"rust", name, "exec '{libraries}/rust/release/" + file + "'", unsound}
	}
	return []Shipped{
		python("redis_py.py", "redis-py/lock", ""),
		python("redis_py_asyncio.py", "redis-py/asyncio-lock", ""),
		python("redis_py_reacquire.py", "redis-py/lock-reacquire", ""),
		python("python_redis_lock.py", "python-redis-lock/lock", ""),
		python("pottery_redlock.py", "pottery/redlock", ""),
		python("get_del.py", "get-del/redis-py", "GET and DEL are two commands"),
		node("redlock.js'", "redlock/beta", ""),
		node("redlock-sesamecare.js'", "redlock/sesamecare", ""),
		node("redis-semaphore.js'", "redis-semaphore/mutex", ""),
		node("redis-semaphore.js' 5.3", "redis-semaphore/mutex-5.3", "a refresh takes a lost lock again"),
		node("simple-redis-mutex.js'", "simple-redis-mutex/try-lock", "the release of a key with a quote ends every process of it"),
		node("naive.js'", "naive/ioredis", "DEL frees whatever is there"),
		php("symfony.php", "symfony/redis", "an owner that dies in acquire leaves the key for 300 s"),
		php("laravel.php", "laravel/redis", ""),
		php("symfony-flock.php", "symfony/flock", ""),
		php("laravel-file.php", "laravel/file", "its files let several in"),
		php("document.php", "php-document/timestamp", "the faults of its document"),
		java("RedissonLock", "redisson/lock", ""),
		java("RedissonWatchdog", "redisson/watchdog", ""),
		java("RedissonFair", "redisson/fair", "the release of a lost lock is answered as that of a held one while nobody else has it"),
		java("SpringIntegration", "spring-integration/spin", ""),
		java("ShedLock", "shedlock/redis", "an unlock deletes whatever is there"),
		java("ShedLock safe", "shedlock/redis-safe", ""),
		rust("rslock", "rslock/lock-manager", ""),
		rust("redis_lock", "redis-lock/multi-resource", "a lease in ms is taken for seconds"),
	}
}
