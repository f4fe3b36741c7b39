-- Empties a shard, except for what it remembers of versions and of time.
--
-- KEYS and ARGV[1] as in swap.lua.
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then
  return redis.error_reply('IDEMLOST the shard of ' .. KEYS[1] .. ' is not the one that was opened')
end
for i = 2, #KEYS do redis.call('UNLINK', KEYS[i]) end
return redis.call('HINCRBY', KEYS[1], 'resets', 1)
