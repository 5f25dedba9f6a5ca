-- Takes the lock for a new hold.
-- KEYS[1]  the lock: a hash of the owner with its depth, and of "hold" with the
--          number of the owner's hold
-- ARGV[1]  owner
-- ARGV[2]  number of the hold, above every earlier one of this owner
-- ARGV[3]  lease in ms
-- Returns nil when granted, else the ms left to the lease of the owner.
-- An owner that asks for a new hold has none: what stands there of an earlier one
-- is the remains of a lost reply, and is taken over. The reverse, an earlier
-- request that arrives late, is refused.
if redis.call('EXISTS', KEYS[1]) == 1 then
  local earlier = redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1
    and tonumber(redis.call('HGET', KEYS[1], 'hold')) < tonumber(ARGV[2])
  if not earlier then
    return redis.call('PTTL', KEYS[1])
  end
end
redis.call('HSET', KEYS[1], ARGV[1], 1, 'hold', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return nil
