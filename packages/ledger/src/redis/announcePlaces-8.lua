--[[
  A process tells of decisions of its own whose pods may not exist yet: those of a ledger that lost its memory, and
  those it made alone because an answer was late. What it had asked for the same token gives way: nobody got that answer.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 pending deadline in us   2 tombstones kept in us   3 idle expiry in ms   4 the process's number
        then for each: token, type s | o, rank, substitute 0 | 1
  Out   { the ledger's id, for how many tokens another process decided something else }
]]
--- @include "clock"
--- @include "places"

local now = clock()
local kept = tonumber(ARGV[2])
local contradicted = 0
for i = 5, #ARGV, 4 do
  local token = ARGV[i]
  local before = read(token)
  local entry = { state = 'P', type = ARGV[i + 1], rank = tonumber(ARGV[i + 2]), substitute = ARGV[i + 3], version = ARGV[4] }
  local known = before and (before.state == 'L' or (before.type == entry.type and before.rank == entry.rank))
  if not known and not ended(token, now, kept) then
    if before and before.version ~= ARGV[4] then
      contradicted = contradicted + 1
    else
      put(token, before, entry, now + tonumber(ARGV[1]))
    end
  end
end
return { touch(now, ARGV[3]), contradicted }
