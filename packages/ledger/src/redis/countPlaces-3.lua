--[[
  KEYS  1 spot   2 ondemand   3 pending
  Out   { spot, on-demand, pending, untyped (rank -2, see places.lua) }
]]
local untyped = redis.call('ZCOUNT', KEYS[2], -2, -2)
return { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]) - untyped, redis.call('ZCARD', KEYS[3]), untyped }
