-- For tests: moves all times of the ledgers under a pattern into the past, by so many microseconds.
local by = tonumber(ARGV[2])
local function older(text)
  return string.format('%.0f', tonumber(text) - by)
end
for _, key in ipairs(redis.call('KEYS', ARGV[1])) do
  if string.match(key, ':pending$') or string.match(key, ':gone$') then
    local members = redis.call('ZRANGE', key, 0, -1, 'WITHSCORES')
    for i = 1, #members, 2 do
      redis.call('ZADD', key, older(members[i + 1]), members[i])
    end
  elseif string.match(key, ':meta$') then
    for _, field in ipairs({ 'release', 'list' }) do
      local value = redis.call('HGET', key, field)
      if value then
        redis.call('HSET', key, field, older(value))
      end
    end
  elseif string.match(key, '{store}:epoch$') then
    redis.call('SET', key, older(redis.call('GET', key)))
  end
end
