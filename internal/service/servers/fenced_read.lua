-- KEYS[1]: the record
-- KEYS[2]: the highest fence that was shown so far
-- ARGV[1]: the reader's fence, 0 for none
-- returns {1, record or ''}, or {0} if the fence is lower than one before it
if tonumber(ARGV[1]) < tonumber(redis.call('GET', KEYS[2]) or '0') then
  return {0}
end
redis.call('SET', KEYS[2], ARGV[1], 'EX', 86400)
return {1, redis.call('GET', KEYS[1]) or ''}
