--[[
  What concerns no workload alone; each process asks once a second. The first to ask an empty store starts its epoch,
  so a new epoch means that everything was lost.

  KEYS  1  epoch: since when nothing was lost, in us
        2  pools: hash pool -> open until, in us
  ARGV  1 idle expiry in ms
  Out   { now in us, epoch, open pools ... }
]]
--- @include "clock"

local now = clock()
redis.call('SET', KEYS[1], digits(now), 'NX')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
local answer = { digits(now), redis.call('GET', KEYS[1]) }
local pools = redis.call('HGETALL', KEYS[2])
for i = 1, #pools, 2 do
  if tonumber(pools[i + 1]) > now then
    answer[#answer + 1] = pools[i]
  end
end
return answer
