-- Takes compare-and-swaps of records of one shard, in order, each of them wholly or not at all.
--
-- KEYS: meta, records, results, created, due, holds, holds:id, doubts, doubts:id.
-- ARGV: as in guard.lua, then for each swap: key; the version that is expected (8 bytes; empty: no record);
-- now (Unix µs, decimal); the new content without its version (empty: the record goes);
-- number of named entries, each: letter, moment (8 bytes), id;
-- number of results dropped, their attempts; number of results put, each: attempt, bytes.
--
-- Gives two numbers for each swap: the new version (0: removed, -1: conflict), and 1 where it brought an id that was
-- not the record's own before.
local meta, records, results, created, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local times = {h = KEYS[6], d = KEYS[8]}
local ids = {h = KEYS[7], d = KEYS[9]}
local call, sub, pack, unpack = redis.call, string.sub, struct.pack, struct.unpack
local never = '\255\255\255\255\255\255\255\255'

local last, now = tonumber(state[2] or '0'), tonumber(state[3] or '0')
local time = call('TIME')
local clock = tonumber(time[1]) * 1000000 + tonumber(time[2])

local at = 2
local function argument()
  at = at + 1
  return ARGV[at]
end

-- Takes out the named entries of a record that are still its own, and says which they were.
local function unname(key, old)
  local own = {}
  local from = 27
  for _ = 1, unpack('>I2', old, 25) do
    local letter, moment = sub(old, from, from), sub(old, from + 1, from + 8)
    local size = unpack('>I2', old, from + 9)
    local id = sub(old, from + 11, from + 10 + size)
    from = from + 11 + size
    local entry = call('HGET', ids[letter], id)
    if entry and sub(entry, 1, 32) == key then
      call('HDEL', ids[letter], id)
      call('ZREM', times[letter], moment .. key .. id)
      own[letter .. id] = true
    end
  end
  return own
end

-- Makes an id the record's, whoever had it. Says whether it was not its own before.
local function name(key, version, own, letter, moment, id)
  local entry = call('HGET', ids[letter], id)
  if entry then
    call('ZREM', times[letter], sub(entry, 33, 40) .. sub(entry, 1, 32) .. id)
  end
  call('HSET', ids[letter], id, key .. moment .. version)
  call('ZADD', times[letter], 0, moment .. key .. id)
  return not own[letter .. id]
end

local reply, wrote = {}, false
while at < #ARGV do
  local key, expect, decided, tail = argument(), argument(), argument(), argument()
  local old = call('HGET', records, key)
  if (old and sub(old, 1, 8) or '') ~= expect then
    for _ = 1, tonumber(argument()) do at = at + 3 end
    at = at + tonumber(argument())
    at = at + 2 * tonumber(argument())
    reply[#reply + 1], reply[#reply + 2] = -1, 0
  else
    wrote = true
    last = math.max(last + 1, clock)
    now = math.max(now, tonumber(decided))
    local version = pack('>I8', last)
    local was = old and sub(old, 17, 24) or never
    local own = old and sub(old, 25, 26) ~= '\0\0' and unname(key, old) or {}
    local wants = never
    if tail ~= '' then
      wants = sub(tail, 9, 16)
      call('HSET', records, key, version .. tail)
      if not old then call('ZADD', created, string.format('%.0f', last), key) end
    else
      call('HDEL', records, key)
      call('ZREM', created, key)
    end
    if was ~= wants then
      if was ~= never then call('ZREM', due, was .. key) end
      if wants ~= never then call('ZADD', due, 0, wants .. key) end
    end
    local fresh = 0
    for _ = 1, tonumber(argument()) do
      if name(key, version, own, argument(), argument(), argument()) then fresh = 1 end
    end
    for _ = 1, tonumber(argument()) do call('HDEL', results, argument()) end
    for _ = 1, tonumber(argument()) do call('HSET', results, argument(), argument()) end
    reply[#reply + 1], reply[#reply + 2] = tail ~= '' and last or 0, fresh
  end
end
if wrote then
  call('HSET', meta, 'version', string.format('%.0f', last), 'now', string.format('%.0f', now))
end
return reply
