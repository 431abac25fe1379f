--[[
  Opens or closes the breaker of a pool.

  KEYS  1  pools: hash pool -> open until, in us
  ARGV  1 pool   2 open for, in us; 0 closes   3 idle expiry in ms
  Out   1
]]
--- @include "clock"

local now = clock()
local pools = redis.call('HGETALL', KEYS[1])
for i = 1, #pools, 2 do
  if tonumber(pools[i + 1]) <= now then
    redis.call('HDEL', KEYS[1], pools[i])
  end
end
if ARGV[2] == '0' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], digits(now + tonumber(ARGV[2])))
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
