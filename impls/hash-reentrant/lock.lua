-- Takes the lock or, for its owner, one level more of it.
-- KEYS[1]  the lock: a hash with one field, the owner, whose value is the depth
-- ARGV[1]  owner
-- ARGV[2]  lease in ms
-- Returns nil when granted, else the ms left to the lease of the owner.
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then
  redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return nil
end
return redis.call('PTTL', KEYS[1])
