--[[
  The type of a StatefulSet's pod: what its volumes reach, else what its ordinal wants, unless the breaker is open.

  KEYS  1  the breaker (see gate.lua)
        2  reach: hash ordinal -> spot | on-demand | both | unknown
  ARGV  1 ordinal   2 token   3 wanted: spot | on-demand   4 pool open: 0 | 1   5 dry run: 0 | 1   6 idle expiry in ms
  Out   { 1, type, substitute }
        { 0 }  not to be steered
]]
--- @include "clock"
--- @include "gate"

local reach = redis.call('HGET', KEYS[2], ARGV[1]) or 'both'
if reach == 'unknown' then
  return { 0 }
end
if reach ~= 'both' then
  return { 1, reach, 0 }
end
if ARGV[3] == 'spot' and not letsspotthrough(KEYS[1], ARGV[2], ARGV[4] == '1', clock(), ARGV[5] == '1', ARGV[6]) then
  return { 1, 'on-demand', 1 }
end
return { 1, ARGV[3], 0 }
