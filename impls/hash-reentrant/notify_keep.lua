-- Sees to it that a hold has a lease left, for a renewal or a nested acquire.
-- Never shortens what is left.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  number of the hold
-- ARGV[3]  lease in ms
-- ARGV[4]  depth from now on; 0 leaves it as it is
-- Returns 1 when done, nil when the hold is gone.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or redis.call('HGET', KEYS[1], 'hold') ~= ARGV[2] then
  return nil
end
if tonumber(ARGV[4]) > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[4])
end
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1
