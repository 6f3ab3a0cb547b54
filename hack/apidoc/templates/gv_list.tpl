{{- define "gvList" -}}
{{- range . -}}
# {{ .GroupVersionString }}

<!-- Written by crd-ref-docs from the types in api/v1alpha1: run make generate. -->

Start at [BenchmarkCampaignSpec](#benchmarkcampaignspec), the `spec` of a campaign.
{{ range .SortedTypes }}{{ template "type" . }}{{ end }}
{{- end -}}
{{- end -}}
