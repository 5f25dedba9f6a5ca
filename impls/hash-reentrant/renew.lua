-- Begins the lease anew if the owner still has the lock.
-- KEYS[1]  the lock
-- ARGV[1]  owner
-- ARGV[2]  lease in ms
-- Returns 1 when renewed, 0 when the owner's field is gone.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
