-- Empties a shard, except for what it remembers of versions and of time.
--
-- KEYS as in swap.lua, ARGV as in guard.lua.
for i = 2, #KEYS do redis.call('UNLINK', KEYS[i]) end
return redis.call('HINCRBY', KEYS[1], 'resets', 1)
