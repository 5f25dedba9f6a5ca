-- KEYS[1]: the record, "value version"
-- ARGV[1]: the version that the writer had read, 0 for no record
-- ARGV[2]: the new record
-- returns 1 if it was written, 0 if the record has another version
local record = redis.call('GET', KEYS[1]) or '0 0'
if string.match(record, '%d+$') ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2], 'EX', 86400)
return 1
