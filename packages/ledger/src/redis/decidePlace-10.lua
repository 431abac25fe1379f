--[[
  Takes a place for one admission, or says what must be read first.

  KEYS  1..8  the places (see places.lua)
        9     the workload's breaker
        10    the store's epoch: since when nothing was lost (never set in a Cluster, where it has another slot)
  ARGV  1 token            2 carried token, or ''
        3 spotPercentage   4 minOnDemand
        5 allowed: spot | on-demand | both
        6 knowledge: cached | fresh | verified
        7 replicas, or ''  8 their resourceVersion, or ''
        9 dirty: 0 | 1     10 pool open: 0 | 1
        11 creation of an untouched ReplicaSet in us, or ''
        12 dry run: 0 | 1
        13 pending deadline in us   14 tombstones kept in us   15 idle expiry in ms
        16 clock margin in us       17 greatest age of a newborn in us
        18 the process's number     19 it asked this before and heard no answer: 0 | 1
        20 verified: the resourceVersion of the replicas when the LIST was asked for, or ''
  Out   { 1, ledger id, type, rank, token, replay, substitute, spot, on-demand, untyped }
        { 0, ledger id }                        read the ReplicaSet
        { -1, ledger id, reason, mark in us, newest, version }   list its pods (see markList)
]]
--- @include "clock"
--- @include "version"
--- @include "places"
--- @include "rank"
--- @include "gate"

local token, carried = ARGV[1], ARGV[2]
local dry = ARGV[12] == '1'
local kept, idle = tonumber(ARGV[14]), ARGV[15]
local now = clock()

local function counts()
  return redis.call('ZCARD', KEYS[3]), redis.call('ZCARD', KEYS[4])
end

-- Keys evicted one by one leave a ledger that contradicts itself; it is rebuilt like a lost one.
local spot, ondemand = counts()
if spot + ondemand ~= redis.call('HLEN', KEYS[2]) and not dry then
  redis.call('UNLINK', unpack(KEYS, 1, 8))
  spot, ondemand = 0, 0
end

local untyped = untypedcount()

local meta = redis.call('HMGET', KEYS[1], 'id', 'seeded', 'release', 'list', 'replicas', 'version', 'newest')
local id = meta[1] or ''
local seeded, release, list = meta[2], tonumber(meta[3] or 0), tonumber(meta[4] or 0)

local function again(of, entry, replay)
  return { 1, id, entry.type, math.max(entry.rank, 0), of, replay, tonumber(entry.substitute), spot, ondemand - untyped, untyped }
end

local known = read(token)
if known then
  local asked = ARGV[19] == '1' and known.state == 'P' and known.version == ARGV[18]
  return again(token, known, asked and 0 or 1)
end
if carried ~= '' then
  -- A reinvocation is a new call for a pod that carries the answer of the first.
  local first = read(carried)
  if first and first.state == 'P' then
    return again(carried, first, 1)
  end
end
if ended(token, now, kept) then
  return { 1, id, 'o', 0, token, 1, 0, spot, ondemand - untyped, untyped }
end

local replicas, version = meta[5] and tonumber(meta[5]), meta[6]
-- Of two counts the later wins; but one that was verified wins over what was known when its LIST was asked for.
local overrules = version and ARGV[20] ~= '' and not later(version, ARGV[20])
if ARGV[8] ~= '' and (not version or later(ARGV[8], version) or overrules) then
  replicas = tonumber(ARGV[7])
  if not dry then
    version = ARGV[8]
    redis.call('HSET', KEYS[1], 'replicas', ARGV[7], 'version', version)
    id = touch(now, idle, id)
  end
end
if not replicas then
  return { 0, id }
end

if ARGV[6] == 'verified' then
  -- A ReplicaSet never has more pods than replicas, so the surplus are reservations whose pod never came.
  while not dry and spot + ondemand + 1 > replicas do
    local oldest = redis.call('ZRANGE', KEYS[7], 0, 0)[1]
    if not oldest then
      break
    end
    local ghost = read(oldest)
    if ghost then
      drop(oldest, ghost)
      spot, ondemand = counts()
    else
      redis.call('ZREM', KEYS[7], oldest)
    end
  end
else
  local dirty = ARGV[9] == '1'
  local born = tonumber(ARGV[11])
  if not seeded and born and not dirty then
    local since = tonumber(redis.call('GET', KEYS[10]) or nil)
    if since and born > since + tonumber(ARGV[16]) and born <= now and now - born < tonumber(ARGV[17]) then
      seeded, list = '1', now
      if not dry then
        redis.call('HSET', KEYS[1], 'seeded', '1', 'list', digits(now))
      end
    end
  end

  local function needlist(reason)
    return { -1, id, reason, digits(math.max(now, release + 1)), meta[7] or '', version or '' }
  end
  if not seeded then
    return needlist('unseeded')
  end
  if dirty then
    return needlist('dirty')
  end
  -- Expiry never drops silently: whether the pod exists is for a LIST to say.
  local oldest = redis.call('ZRANGE', KEYS[7], 0, 0, 'WITHSCORES')
  if oldest[2] and tonumber(oldest[2]) < now then
    return needlist('expired-pending')
  end
  -- One seen release means that others may be unseen.
  if release > list then
    return needlist('release-seen')
  end
  if spot + ondemand >= replicas then
    if ARGV[6] == 'fresh' then
      return needlist('full')
    end
    return { 0, id }
  end
end

local type = ARGV[5] == 'spot' and 's' or 'o'
local substitute = '0'
if ARGV[5] == 'both' then
  -- By count: spot iff S + 1 <= f(N + 1), and the floor is full without those of which nobody knows the type.
  local n, floor = spot + ondemand + 1, tonumber(ARGV[4])
  local share = math.floor((n * tonumber(ARGV[3]) + 99) / 100)
  if spot + 1 <= math.max(0, math.min(share, n - floor)) and ondemand - untyped >= floor then
    if letsspotthrough(KEYS[9], token, ARGV[10] == '1', now, dry, idle) then
      type = 's'
    else
      substitute = '1'
    end
  end
end

local _, used = typekeys(type)
local rank = lowestfree(used)
if not dry then
  local entry = { state = 'P', type = type, rank = rank, substitute = substitute, version = ARGV[18] }
  put(token, nil, entry, now + tonumber(ARGV[13]))
  id = touch(now, idle, id)
end
if type == 's' then
  spot = spot + 1
else
  ondemand = ondemand + 1
end
return { 1, id, type, rank, token, 0, tonumber(substitute), spot, ondemand - untyped, untyped }
