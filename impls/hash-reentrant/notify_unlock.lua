-- Gives one level of a hold up. The depth that remains is told, not counted here:
-- a second request of the same kind changes nothing.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  number of the hold
-- ARGV[3]  depth from now on; 0 frees the lock and tells the waiters
-- ARGV[4]  channel
-- Returns 1 when the lock is free now, 0 when levels are left, nil when the hold
-- is gone.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or redis.call('HGET', KEYS[1], 'hold') ~= ARGV[2] then
  return nil
end
if tonumber(ARGV[3]) > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[4], ARGV[1])
return 1
