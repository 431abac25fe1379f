--[[
  KEYS  1 spot   2 ondemand   3 pending
  Out   { spot, on-demand, pending }
]]
return { redis.call('ZCARD', KEYS[1]), redis.call('ZCARD', KEYS[2]), redis.call('ZCARD', KEYS[3]) }
