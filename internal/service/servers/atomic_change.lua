-- KEYS[1]: the record
-- ARGV[1]: above this value so much is taken: ARGV[2]
-- ARGV[3]: what is added else, 0 for nothing
-- ARGV[4]: the version of the new record
-- returns by how much the value has changed
local text = redis.call('GET', KEYS[1]) or '0 0'
local value = tonumber(string.match(text, '^%S+'))
local change = tonumber(ARGV[3])
if value > tonumber(ARGV[1]) then
  change = -tonumber(ARGV[2])
end
if change ~= 0 then
  redis.call('SET', KEYS[1], string.format('%.0f', value + change) .. ' ' .. ARGV[4], 'EX', 86400)
end
return change
