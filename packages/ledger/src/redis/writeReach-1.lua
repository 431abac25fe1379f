--[[
  Replaces what is known of the reach of a StatefulSet's volumes.

  KEYS  1  reach
  ARGV  1 idle expiry in ms, then for each: ordinal, reach
  Out   1
]]
redis.call('UNLINK', KEYS[1])
for i = 2, #ARGV, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
