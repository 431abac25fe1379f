-- May this decision go to spot? The breaker: hash state, permits, version, takenat, takenby, memo.
-- Half-open goes before the pool's breaker: a pool is probed by giving one workload a permit.
local function letsspotthrough(key, token, poolopen, now, dry, idle)
  local state, permits, takenby = unpack(redis.call('HMGET', key, 'state', 'permits', 'takenby'))
  if state == 'open' then
    return false
  end
  if state ~= 'half-open' then
    return not poolopen
  end
  if takenby == token then
    return true
  end
  if tonumber(permits) <= 0 then
    return false
  end
  if not dry then
    redis.call('HINCRBY', key, 'permits', -1)
    redis.call('HINCRBY', key, 'version', 1)
    redis.call('HSET', key, 'takenat', digits(now), 'takenby', token)
    redis.call('PEXPIRE', key, idle)
  end
  return true
end
