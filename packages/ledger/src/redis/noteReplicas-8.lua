--[[
  How many replicas the ReplicaSet of a ledger wants. The later resourceVersion wins.

  KEYS  1..8  the places (see places.lua)
  ARGV  1 replicas   2 resourceVersion   3 idle expiry in ms
  Out   1 written   0 as late or later was known
]]
--- @include "clock"
--- @include "version"
--- @include "places"

local version = redis.call('HGET', KEYS[1], 'version')
if version and not later(ARGV[2], version) then
  return 0
end
redis.call('HSET', KEYS[1], 'replicas', ARGV[1], 'version', ARGV[2])
touch(clock(), ARGV[3])
return 1
