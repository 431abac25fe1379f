--[[
  A ledger that lost its memory is told of decisions whose pods may not exist yet.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 pending deadline in us   2 tombstones kept in us   3 idle expiry in ms
        then for each: token, type s | o, rank, substitute 0 | 1
  Out   the ledger's id
]]
--- @include "clock"
--- @include "places"

local now = clock()
local kept = tonumber(ARGV[2])
for i = 4, #ARGV, 4 do
  local token = ARGV[i]
  if not read(token) and not ended(token, now, kept) then
    local entry = { state = 'P', type = ARGV[i + 1], rank = tonumber(ARGV[i + 2]), substitute = ARGV[i + 3], version = '' }
    put(token, nil, entry, now + tonumber(ARGV[1]))
  end
end
return touch(now, ARGV[3])
