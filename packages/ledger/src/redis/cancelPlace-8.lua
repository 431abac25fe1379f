--[[
  Gives back the place of a decision whose answer came too late. The pod may still be made, unsteered or by the outage
  rule, and under this token; so the tombstone stops a belated decision but not the pod.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 token   2 tombstones kept in us   3 idle expiry in ms
  Out   1
]]
--- @include "clock"
--- @include "places"

local now = clock()
local entry = read(ARGV[1])
if entry and entry.state == 'L' then
  return 1
end
if entry then
  drop(ARGV[1], entry)
end
bury('!' .. ARGV[1], now, now, tonumber(ARGV[2]))
touch(now, ARGV[3])
return 1
