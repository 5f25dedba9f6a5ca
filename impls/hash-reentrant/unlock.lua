-- Gives one level of the lock up.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  lease in ms, which an inner level begins anew
-- Returns 1 when the lock is free now, 0 when levels are left, nil when the lock
-- is gone or another's: the caller cannot tell these two apart.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return nil
end
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return nil
end
if redis.call('HINCRBY', KEYS[1], ARGV[1], -1) > 0 then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return 0
end
redis.call('DEL', KEYS[1])
return 1
