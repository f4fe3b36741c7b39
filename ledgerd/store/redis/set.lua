-- Sets a field of a hash to a text, or counts it up.
--
-- KEYS: meta, the hash. ARGV: as in guard.lua, then the field and its text, or the field alone.
if ARGV[4] then
  return redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
end
return redis.call('HINCRBY', KEYS[2], ARGV[3], 1)
