--[[
  What one read of a ReplicaSet told, for every replica of ours. The later resourceVersion wins.

  KEYS  1  the ReplicaSet: hash owner, name, replicas, version
  ARGV  1 owner's UID   2 owner's name   3 replicas   4 resourceVersion   5 idle expiry in ms
  Out   1 written   0 as late or later was known
]]
--- @include "version"

local version = redis.call('HGET', KEYS[1], 'version')
redis.call('PEXPIRE', KEYS[1], ARGV[5])
if version and not later(ARGV[4], version) then
  return 0
end
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'name', ARGV[2], 'replicas', ARGV[3], 'version', ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return 1
