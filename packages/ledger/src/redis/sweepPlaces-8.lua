--[[
  The second pass of a merge: entries that the list does not have. With the last of them, and only then, the ledger is
  seeded.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 the ledger's id   2 mark in us   3 the list's resourceVersion   4 tombstones kept in us
        5 idle expiry in ms   6 cursor, 0 at first   7 entries to look at
  Out   { 1, next cursor, 0 when done }
        { 0 }  the ledger was lost since the first chunk: begin again
]]
--- @include "clock"
--- @include "version"
--- @include "places"

local now = clock()
local mark, listed, kept = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
if redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then
  return { 0 }
end
-- A mark may be that of a release before the clock was set back; deadlines are of the clock as it is.
local expired = math.min(mark, now)
local page = redis.call('HSCAN', KEYS[2], ARGV[6], 'COUNT', ARGV[7])
for i = 1, #page[2], 2 do
  local token = page[2][i]
  local entry = parse(page[2][i + 1])
  if entry.state == 'L' then
    if later(listed, entry.version) then
      drop(token, entry)
      bury(token, now, now, kept)
    end
  else
    local deadline = redis.call('ZSCORE', KEYS[7], token)
    if not deadline or tonumber(deadline) < expired then
      drop(token, entry)
    end
  end
end
if page[1] == '0' then
  local list = tonumber(redis.call('HGET', KEYS[1], 'list') or 0)
  redis.call('HSET', KEYS[1], 'seeded', '1', 'list', digits(math.max(list, mark)))
end
touch(now, ARGV[5], ARGV[1])
return { 1, page[1] }
