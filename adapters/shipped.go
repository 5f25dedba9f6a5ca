package adapters

import (
	"slices"
	"strings"
)

// A Shipped is an adapter that comes with lockbench.
type Shipped struct {
	Language string
	Name     string // of its design
	// Command is for a shell; see [Shipped.Shell].
	Command string
	// Remark is for people: that a library is not the newest, or that the lock is a control.
	Remark string
	// Unsound is the known bug of the lock, empty for a lock believed to be sound.
	Unsound string
	// ByCheck reports whether adapter check shows the bug; a short run shows it by chance at most.
	ByCheck bool
}

// Remarks on shipped adapters.
const (
	NotNewest = "not the newest"
	Control   = "a bad lock on purpose"
)

// Shell returns the command of the adapter. here is the folder adapters, and libraries the folder
// that adapters/install filled.
func (s Shipped) Shell(here, libraries string) string {
	return strings.NewReplacer("{here}", here, "{libraries}", libraries).Replace(s.Command)
}

// remarked returns s with a remark.
func remarked(remark string, s Shipped) Shipped {
	s.Remark = remark
	return s
}

// byCheck follows a bug that adapter check shows.
const byCheck = "by check"

// unsound returns s with its bug, which byCheck may follow.
func unsound(s Shipped, why []string) Shipped {
	if len(why) > 0 {
		s.Unsound = why[0]
	}
	s.ByCheck = len(why) > 1 && why[1] == byCheck
	return s
}

// MustShipped returns the adapter with a name. It panics if there is none.
func MustShipped(name string) Shipped {
	all := AllShipped()
	return all[slices.IndexFunc(all, func(s Shipped) bool { return s.Name == name })]
}

// AllShipped returns the adapters that come with lockbench, language by language.
func AllShipped() []Shipped {
	python := func(words, name string, why ...string) Shipped {
		return unsound(Shipped{Language: "python", Name: name, Command: "exec {libraries}/python/bin/python -B {here}/python/" + words}, why)
	}
	node := func(words, name string, why ...string) Shipped {
		return unsound(Shipped{Language: "node", Name: name, Command: "NODE_PATH={libraries}/node/node_modules exec node {here}/node/" + words}, why)
	}
	php := func(file, name string, why ...string) Shipped {
		return unsound(Shipped{Language: "php", Name: name, Command: "exec php {here}/php/" + file}, why)
	}
	java := func(words, name string, why ...string) Shipped {
		return unsound(Shipped{Language: "java", Name: name, Command: "exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx128m -XX:SharedArchiveFile={libraries}/java/classes.jsa -cp {libraries}/java/adapters.jar lockbench." + words}, why)
	}
	rust := func(file, name string, why ...string) Shipped {
		return unsound(Shipped{Language: "rust", Name: name, Command: "exec {libraries}/rust/release/" + file}, why)
	}
	golang := func(file, name string, why ...string) Shipped {
		return unsound(Shipped{Language: "go", Name: name, Command: "exec {libraries}/go/" + file}, why)
	}
	return []Shipped{
		python("redis_py.py", "redis-py/lock"),
		python("redis_py_asyncio.py", "redis-py/asyncio-lock"),
		python("redis_py.py reacquire", "redis-py/lock-reacquire"),
		python("python_redis_lock.py", "python-redis-lock/lock"),
		python("pottery_redlock.py", "pottery/redlock"),
		python("psycopg_advisory.py", "psycopg/advisory"),
		python("kazoo_lock.py", "kazoo/lock"),
		remarked(Control, python("get_del.py", "get-del/redis-py", "GET and DEL are two commands")),
		node("redlock.js", "redlock/beta", "a waiter that is granted late is told that its lease is over", byCheck),
		node("redlock.js sesamecare", "redlock/sesamecare"),
		node("redis-semaphore.js", "redis-semaphore/mutex"),
		remarked(NotNewest, node("redis-semaphore.js 5.3", "redis-semaphore/mutex-5.3", "a refresh takes a lost lock again", byCheck)),
		node("simple-redis-mutex.js", "simple-redis-mutex/try-lock", "the release of a key with a quote ends every process of it", byCheck),
		node("advisory-lock.js", "advisory-lock/try-lock", "an error of a connection ends the process"),
		remarked(Control, node("naive.js", "naive/ioredis", "DEL frees whatever is there", byCheck)),
		remarked(NotNewest, php("symfony.php", "symfony/redis", "an owner that dies in acquire leaves the key for 300 s", byCheck)),
		remarked(NotNewest, php("laravel.php", "laravel/redis")),
		remarked(NotNewest, php("symfony-flock.php", "symfony/flock")),
		remarked(NotNewest, php("laravel-file.php", "laravel/file", "its files let several in")),
		remarked(Control, php("document.php", "php-document/timestamp", "the faults of its document", byCheck)),
		java("CuratorMutex", "curator/mutex"),
		java("RedissonLock", "redisson/lock"),
		java("RedissonWatchdog", "redisson/watchdog"),
		java("RedissonFair", "redisson/fair", "the release of a lost lock is answered as that of a held one while nobody else has it"),
		java("SpringIntegration", "spring-integration/spin"),
		java("ShedLock", "shedlock/redis", "an unlock deletes whatever is there", byCheck),
		java("ShedLock safe", "shedlock/redis-safe"),
		golang("go-pglock", "go-pglock/lock"),
		golang("pglock", "pglock/lock", "single attempts never take over the lock of an owner that died", byCheck),
		golang("etcd", "etcd/mutex"),
		remarked(NotNewest, golang("etcd35", "etcd/mutex-3.5")),
		rust("rslock", "rslock/lock-manager"),
		rust("redis_lock", "redis-lock/multi-resource", "a lease in ms is taken for seconds", byCheck),
	}
}
