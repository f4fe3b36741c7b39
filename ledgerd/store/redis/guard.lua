-- Stands before every script that writes: ends it where the shard is not the one that was opened, or has forgotten.
--
-- KEYS[1]: meta. ARGV: the store's id; a version of the shard that was safe.
local state = redis.call('HMGET', KEYS[1], 'id', 'version', 'now')
if state[1] ~= ARGV[1] then
  return redis.error_reply('IDEMLOST the shard of ' .. KEYS[1] .. ' is not the one that was opened')
end
if tonumber(state[2] or '0') < tonumber(ARGV[2]) then
  return redis.error_reply('IDEMBACK ' .. (state[2] or '0') .. ' is the version of the shard of ' .. KEYS[1])
end
