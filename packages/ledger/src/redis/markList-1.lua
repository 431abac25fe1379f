--[[
  The mark of a LIST that begins after this answer.

  KEYS  1  meta
  Out   { the time in us; right after the last release if the clock was set back since,
          the latest resourceVersion of a pod or list, or '', that of the replicas, or '' }
]]
--- @include "clock"

local release, newest, version = unpack(redis.call('HMGET', KEYS[1], 'release', 'newest', 'version'))
return { digits(math.max(clock(), tonumber(release or 0) + 1)), newest or '', version or '' }
