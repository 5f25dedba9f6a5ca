-- KEYS[1]: the lock
-- ARGV[1]: the value that its holder gave it
-- returns 1 if it was the holder's and is now free, 0 if not
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('DEL', KEYS[1])
end
return 0
