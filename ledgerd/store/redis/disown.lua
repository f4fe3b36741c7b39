-- Takes ids out of one index of a shard, because a record of another shard has them since a later write.
--
-- KEYS: the index by time, the index by id. ARGV: that write's version, then the ids.
for i = 2, #ARGV do
  local entry = redis.call('HGET', KEYS[2], ARGV[i])
  if entry and struct.unpack('>I8', entry, 41) < tonumber(ARGV[1]) then
    redis.call('HDEL', KEYS[2], ARGV[i])
    redis.call('ZREM', KEYS[1], string.sub(entry, 33, 40) .. string.sub(entry, 1, 32) .. ARGV[i])
  end
end
return 0
