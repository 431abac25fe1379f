-- The places of one ReplicaSet. The first eight keys of every script that includes this:
--   1 meta       hash   id, seeded, release, list (times), replicas, version, newest
--   2 entries    hash   token -> state|type|rank|substitute|version
--   3 spot       zset   token by rank; its cardinality is the count
--   4 ondemand   zset   the same
--   5 spotused   zset   rank by itself, once each: the ranks in use
--   6 odused     zset   the same
--   7 pending    zset   token by deadline, which is the age plus a constant
--   8 gone       zset   token by the time of its end; !token by the time it was cancelled
-- A state is P(ending) or L(ive), a type s(pot) or o(n-demand), a rank -1 where a pod has none. A version is the pod's
-- resourceVersion; while it is pending, the number of the process that asked.
-- A pod whose type nobody knows is an on-demand one of rank -2, so that it counts as a replica for the version before
-- this one, too.

local function parse(text)
  local state, type, rank, substitute, version = string.match(text, '^(%a)|(%a)|(%-?%d+)|(%d)|(%d*)$')
  return { state = state, type = type, rank = tonumber(rank), substitute = substitute, version = version }
end

local function read(token)
  local text = redis.call('HGET', KEYS[2], token)
  return text and parse(text) or nil
end

local function isuntyped(entry)
  return entry.rank == -2
end

local function untypedcount()
  return redis.call('ZCOUNT', KEYS[4], -2, -2)
end

local function typekeys(type)
  if type == 's' then
    return KEYS[3], KEYS[5]
  end
  return KEYS[4], KEYS[6]
end

-- The rank is free again once no other token has it; two may, when they were given out during an outage.
local function vacate(token, entry)
  local byrank, used = typekeys(entry.type)
  redis.call('ZREM', byrank, token)
  if entry.rank >= 0 and redis.call('ZCOUNT', byrank, entry.rank, entry.rank) == 0 then
    redis.call('ZREM', used, entry.rank)
  end
end

local function drop(token, entry)
  vacate(token, entry)
  redis.call('HDEL', KEYS[2], token)
  if entry.state == 'P' then
    redis.call('ZREM', KEYS[7], token)
  end
end

-- before: what read(token) gave. deadline: of a pending entry only.
local function put(token, before, entry, deadline)
  if before and (before.type ~= entry.type or before.rank ~= entry.rank) then
    vacate(token, before)
  end
  if not before or before.type ~= entry.type or before.rank ~= entry.rank then
    local byrank, used = typekeys(entry.type)
    redis.call('ZADD', byrank, entry.rank, token)
    if entry.rank >= 0 then
      redis.call('ZADD', used, entry.rank, entry.rank)
    end
  end
  redis.call('HSET', KEYS[2], token, table.concat({ entry.state, entry.type, digits(entry.rank), entry.substitute, entry.version }, '|'))
  if entry.state == 'P' then
    redis.call('ZADD', KEYS[7], digits(deadline), token)
  elseif before and before.state == 'P' then
    redis.call('ZREM', KEYS[7], token)
  end
end

-- The time at which the member was buried, if that is younger than kept; else false.
local function buried(member, now, kept)
  local at = redis.call('ZSCORE', KEYS[8], member)
  if at and tonumber(at) > now - kept then
    return tonumber(at)
  end
  return false
end

-- Nothing is to be decided for it any more: its pod has ended, or its decision was cancelled.
local function ended(token, now, kept)
  return buried(token, now, kept) or buried('!' .. token, now, kept)
end

-- Each burial makes room for itself: never many at once, so that no call is long. at: now, or what is taken for it.
local function bury(member, at, now, kept)
  redis.call('ZADD', KEYS[8], digits(at), member)
  local old = redis.call('ZRANGEBYSCORE', KEYS[8], '-inf', digits(now - kept), 'LIMIT', 0, 8)
  if #old > 0 then
    redis.call('ZREM', KEYS[8], unpack(old))
  end
end

-- All keys of a ledger expire together: a part of one would be believed. Returns the ledger's id (id: the same, where
-- it was read already), which is new whenever its memory is.
local function touch(now, idle, id)
  if not id or id == '' then
    redis.call('HSETNX', KEYS[1], 'id', digits(now))
    id = redis.call('HGET', KEYS[1], 'id')
  end
  for i = 1, 8 do
    redis.call('PEXPIRE', KEYS[i], idle)
  end
  return id
end
