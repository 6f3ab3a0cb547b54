-- Removes the field instead of setting it to false: so the campaign again equals a manifest without the field.
obj.spec.suspend = nil
return obj
