-- What is kept of a pod that was seen or listed. A type that nobody knows any more stays what it was; one that nobody
-- knew before is believed at any resourceVersion.

local function istypenews(before, entry)
  return isuntyped(before) and not isuntyped(entry)
end

local function kept(before, entry)
  if before and isuntyped(entry) then
    entry.type, entry.rank, entry.substitute = before.type, before.rank, before.substitute
  end
  if before and before.state == 'L' and later(before.version, entry.version) then
    entry.version = before.version
  end
  return entry
end
