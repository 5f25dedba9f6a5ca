-- KEYS[1]: the lock
-- KEYS[2]: the number of its latest grant
-- ARGV[1]: the value of this grant
-- ARGV[2]: the lease in whole milliseconds
-- ARGV[3]: how long the number is kept when nobody takes the lock, in seconds
-- returns the number of the grant, or 0 if the lock was not free
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return 0
end
local number = redis.call('INCR', KEYS[2])
-- A server that forgot the latest numbers goes on with the time, in microseconds.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
if number < now then
  number = now
end
redis.call('SET', KEYS[2], string.format('%.0f', number), 'EX', ARGV[3])
return number
