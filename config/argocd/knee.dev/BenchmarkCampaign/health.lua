-- The conditions of a campaign follow kstatus: https://github.com/knee-bench/knee/blob/main/docs/concepts.md#conditions
if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return {status = "Progressing", message = "Knee has not read the spec yet"}
end

local conditions = {}
for _, condition in ipairs(obj.status.conditions or {}) do
  conditions[condition.type] = condition
end
local ready = conditions["Ready"]
if ready == nil then
  return {status = "Progressing", message = "the status has no condition Ready"}
end

if ready.status == "True" then
  -- An inconclusive answer is still the answer to this spec: a repeated sync does not change it, and later sync waves continue.
  local conclusive = conditions["Conclusive"]
  if conclusive ~= nil and conclusive.status == "False" then
    return {status = "Healthy", message = "inconclusive (" .. conclusive.reason .. "): " .. ready.message}
  end
  return {status = "Healthy", message = ready.message}
end
if ready.status == "False" then -- Stalled: a person must act
  return {status = "Degraded", message = ready.reason .. ": " .. ready.message}
end
if ready.reason == "Suspended" then
  return {status = "Suspended", message = ready.message}
end
return {status = "Progressing", message = ready.message}
