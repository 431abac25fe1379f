-- The lowest rank that no entry of the type uses. The used ranks are distinct and sorted, so the i-th is i as long
-- as none is missing before it: a binary search finds the first gap, whatever ranks the pods brought along. (A list
-- of freed ranks would have to be filled up to the highest rank seen, and a rank is whatever a pod's annotation says.)
local function lowestfree(used)
  local low, high = 0, redis.call('ZCARD', used)
  if high == 0 then
    return 0
  end
  local last = tonumber(redis.call('ZRANGE', used, -1, -1)[1])
  if last == high - 1 then
    return high
  end
  while low < high do
    local middle = math.floor((low + high) / 2)
    if tonumber(redis.call('ZRANGE', used, middle, middle)[1]) == middle then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end
