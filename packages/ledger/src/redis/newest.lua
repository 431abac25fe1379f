-- The latest resourceVersion of a pod or a list. Includes version.lua before it, and KEYS[1] is the meta hash.
local function notenewest(version)
  local known = redis.call('HGET', KEYS[1], 'newest')
  if not known or later(version, known) then
    redis.call('HSET', KEYS[1], 'newest', version)
  end
end
