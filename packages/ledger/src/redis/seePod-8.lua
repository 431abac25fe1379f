--[[
  A pod was observed alive. The pod says what it is; a reservation's own type is never trusted.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 token   2 type: s | o   3 rank, -1, or -2 (see places.lua)   4 substitute: 0 | 1   5 resourceVersion
        6 tombstones kept in us   7 idle expiry in ms
  Out   1 recorded   0 as much or more was known   -1 it was seen to end before
]]
--- @include "clock"
--- @include "version"
--- @include "places"
--- @include "pod"
--- @include "newest"

local now = clock()
if buried(ARGV[1], now, tonumber(ARGV[6])) then
  return -1
end
local before = read(ARGV[1])
local entry = { state = 'L', type = ARGV[2], rank = tonumber(ARGV[3]), substitute = ARGV[4], version = ARGV[5] }
if before and before.state == 'L' and not later(entry.version, before.version) and not istypenews(before, entry) then
  return 0
end
notenewest(ARGV[5])
put(ARGV[1], before, kept(before, entry))
touch(now, ARGV[7])
return 1
