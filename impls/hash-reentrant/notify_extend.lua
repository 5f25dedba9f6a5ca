-- Sets the lease left to a hold. Tells the waiters when that shortens it, for
-- they sleep as long as the lease they last read.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  number of the hold
-- ARGV[3]  lease in ms
-- ARGV[4]  channel
-- Returns 1 when done, nil when the hold is gone.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 or redis.call('HGET', KEYS[1], 'hold') ~= ARGV[2] then
  return nil
end
if redis.call('PTTL', KEYS[1]) > tonumber(ARGV[3]) then
  redis.call('PUBLISH', ARGV[4], ARGV[1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
