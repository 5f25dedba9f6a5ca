-- KEYS[1]: the lock
-- ARGV[1]: the value that its holder gave it
-- ARGV[2]: the lease from now on, in whole milliseconds
-- returns 1 if it is the holder's, 0 if not
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 0
