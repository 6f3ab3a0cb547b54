local over = false -- finished or stalled, for the present spec
if obj.status ~= nil and obj.status.observedGeneration == obj.metadata.generation then
  for _, condition in ipairs(obj.status.conditions or {}) do
    if condition.type == "Ready" and condition.status ~= "Unknown" then
      over = true
    end
  end
end
local suspended = obj.spec.suspend == true

return {
  -- A running campaign would lose what it has measured.
  rerun = {disabled = not over, iconClass = "fa fa-fw fa-redo"},
  suspend = {disabled = suspended, iconClass = "fa fa-fw fa-pause"},
  resume = {disabled = not suspended, iconClass = "fa fa-fw fa-play"},
}
