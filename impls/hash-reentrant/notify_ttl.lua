-- Reads the lease left to a hold.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  number of the hold
-- Returns the ms left, 0 when the hold is gone.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or redis.call('HGET', KEYS[1], 'hold') ~= ARGV[2] then
  return 0
end
return redis.call('PTTL', KEYS[1])
