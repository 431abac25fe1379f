-- Is resourceVersion a later than b? As text: the longer, then byte by byte. Lua numbers lose what exceeds 2^53.
local function later(a, b)
  if #a ~= #b then
    return #a > #b
  end
  return a > b
end
