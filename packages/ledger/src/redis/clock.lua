-- The only clock of the ledger: microseconds, far below 2^53 and so exact in a Lua number.
local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000000 + t[2]
end

-- tostring() would write a number of 16 digits as 1.7e+15.
local function digits(n)
  return string.format('%.0f', n)
end
