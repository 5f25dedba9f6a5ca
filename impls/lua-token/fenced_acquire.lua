-- KEYS[1]: the lock
-- KEYS[2]: the counter of its grants, which does not expire
-- ARGV[1]: the value of this grant
-- ARGV[2]: the lease in whole milliseconds
-- returns the number of the grant, from 1 on, or 0 if the lock was not free
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return redis.call('INCR', KEYS[2])
end
return 0
