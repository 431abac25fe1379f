--[[
  A pod was observed to end. Its token stays buried for a while, so that events that come late or twice change nothing.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 token   2 tombstones kept in us   3 idle expiry in ms
  Out   1 its place is free   0 it had none
]]
--- @include "clock"
--- @include "version"
--- @include "places"

local now = clock()
local entry = read(ARGV[1])
local release, list = unpack(redis.call('HMGET', KEYS[1], 'release', 'list'))
-- After the last list, and after one that began since the last release, even if the clock was set back: a release must
-- never look as old as a list that may not have seen it.
local at = math.max(now, tonumber(release or 0) + 2, tonumber(list or 0) + 1)
if entry then
  drop(ARGV[1], entry)
  redis.call('HSET', KEYS[1], 'release', digits(at))
end
bury(ARGV[1], at, now, tonumber(ARGV[2]))
touch(now, ARGV[3])
return entry and 1 or 0
