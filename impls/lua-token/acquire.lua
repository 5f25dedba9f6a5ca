-- KEYS[1]: the lock
-- ARGV[1]: its value
-- ARGV[2]: the lease in seconds, unchecked: what is no whole number raises an
--          error here, and the key that SETNX made stays
-- returns 1 if the lock was free, 0 if not
if redis.call('SETNX', KEYS[1], ARGV[1]) == 1 then
  redis.call('EXPIRE', KEYS[1], ARGV[2])
  return 1
end
return 0
