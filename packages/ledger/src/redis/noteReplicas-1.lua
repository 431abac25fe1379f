--[[
  Tells an existing ledger how many replicas its ReplicaSet wants. It makes none, and so needs to set no expiry: the
  key has one, together with its ledger's others.

  KEYS  1  meta
  ARGV  1 replicas   2 resourceVersion
  Out   1 written   0 no ledger, or as late or later was known
]]
--- @include "version"

local id, version = unpack(redis.call('HMGET', KEYS[1], 'id', 'version'))
if not id or (version and not later(ARGV[2], version)) then
  return 0
end
redis.call('HSET', KEYS[1], 'replicas', ARGV[1], 'version', ARGV[2])
return 1
