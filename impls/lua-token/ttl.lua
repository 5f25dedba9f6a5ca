-- KEYS[1]: the lock
-- ARGV[1]: the value that its holder gave it
-- returns the milliseconds left, 0 if it is not the holder's
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('PTTL', KEYS[1])
end
return 0
