--[[
  The mark of a LIST that begins after this answer.

  KEYS  1  meta
  Out   the time in us; right after the last release if the clock was set back since
]]
--- @include "clock"

return digits(math.max(clock(), tonumber(redis.call('HGET', KEYS[1], 'release') or 0) + 1))
