--[[
  Writes a workload's breaker if nothing else did since it was read. A new state forgets who took a permit, and when.

  KEYS  1  the breaker (see gate.lua)
  ARGV  1 expected version, 0 if there was none   2 state   3 permits   4 memo   5 idle expiry in ms
  Out   { 1, version }
        { 0, state, permits, version, takenat, memo }  it was written since
]]
local now = redis.call('HMGET', KEYS[1], 'state', 'permits', 'version', 'takenat', 'memo')
if (now[3] or '0') ~= ARGV[1] then
  return { 0, now[1], now[2], now[3], now[4], now[5] }
end
-- A permit tells of the attempt that it was given for, and of no later one.
if now[1] ~= ARGV[2] then
  redis.call('HDEL', KEYS[1], 'takenat', 'takenby')
end
redis.call('HSET', KEYS[1], 'state', ARGV[2], 'permits', ARGV[3], 'memo', ARGV[4])
local version = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return { 1, version }
