--[[
  One chunk of a LIST. Each pod on it is live as of the list's resourceVersion, which the sweep then compares: two
  lists merged at once do not disturb each other, and a list needs no id of its own.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 the ledger's id as the first chunk returned it, '' in the first
        2 mark in us   3 the list's resourceVersion   4 tombstones kept in us   5 idle expiry in ms
        6 the latest resourceVersion of pods at the mark, or ''
        then for each pod: token, type s | o, rank, -1 or -2, substitute 0 | 1, resourceVersion
  Out   { 1, ledger id, began anew: 0 | 1 }
        { 0 }  the ledger was lost since the first chunk: begin again
]]
--- @include "clock"
--- @include "version"
--- @include "places"
--- @include "pod"
--- @include "newest"

local now = clock()
local mark, listed, tombs = tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4])
if ARGV[1] ~= '' and redis.call('HGET', KEYS[1], 'id') ~= ARGV[1] then
  return { 0 }
end
-- A list that is older than what was known before it shows that etcd was restored from a backup, so nothing that is
-- known holds. Where another list has shown it since, all is new already.
local beganew = 0
if ARGV[1] == '' and ARGV[6] ~= '' and later(ARGV[6], listed) then
  local newest = redis.call('HGET', KEYS[1], 'newest')
  if newest and not later(ARGV[6], newest) then
    redis.call('UNLINK', unpack(KEYS, 2, 8))
    redis.call('HDEL', KEYS[1], 'id', 'seeded', 'replicas', 'version', 'newest')
    beganew = 1
  end
end
notenewest(listed)
for i = 7, #ARGV, 5 do
  local token = ARGV[i]
  local buriedat = buried(token, now, tombs)
  if not buriedat or buriedat < mark then
    if buriedat then
      redis.call('ZREM', KEYS[8], token)
    end
    local before = read(token)
    local version = later(ARGV[i + 4], listed) and ARGV[i + 4] or listed
    local entry = { state = 'L', type = ARGV[i + 1], rank = tonumber(ARGV[i + 2]), substitute = ARGV[i + 3], version = version }
    if not (before and before.state == 'L' and later(before.version, listed)) or istypenews(before, entry) then
      put(token, before, kept(before, entry))
    end
  end
end
return { 1, touch(now, ARGV[5], ARGV[1]), beganew }
