{{- /* limits writes the validation markers of a type or field. Required fields are marked in the table's first column. */ -}}
{{- define "limits" -}}
{{- range .Validation }}
{{- if hasPrefix "Maximum: " . }} Maximum: {{ trimPrefix "Maximum: " . | float64 | printf "%.0f" }}.
{{- else if not (hasSuffix ": {}" .) }} {{ . }}.
{{- end }}
{{- end }}
{{- end -}}

{{- define "type" -}}
{{- if markdownShouldRenderType . }}
## {{ .Name }}

{{ .Doc }}{{ template "limits" . }}
{{- with .SortedReferences }}

Used by{{ range . }} {{ markdownRenderTypeLink . }}{{ end }}.
{{- end }}
{{- /* The rules on spec are not markers: hack/crdrules writes them into the CRD. */ -}}
{{- if eq .Name "BenchmarkCampaignSpec" }}

{{ markdownTemplateValue "specRules" }}
{{- else }}{{ with index .Markers "kubebuilder:validation:XValidation" }}
{{ range . }}
- Rule: {{ .Message }}.
{{- end }}
{{- end }}
{{- end }}
{{- with .Members }}

| field | type | default | what it is |
| --- | --- | --- | --- |
{{- range . }}
| `{{ .Name }}`{{ if has "Required: {}" .Validation }} (required){{ end }} | {{ markdownRenderType .Type }} | {{ with .Default }}`{{ . }}`{{ end }} | {{ markdownRenderFieldDoc .Doc | replace "<br />" " " }}{{ template "limits" . }}
{{- /* A field also has the rules of its type, which stand in the type's section. */ -}}
{{- $inherited := index .Type.Markers "kubebuilder:validation:XValidation" -}}
{{- range index .Markers "kubebuilder:validation:XValidation" }}{{ if not (has . $inherited) }} Rule: {{ .Message }}.{{ end }}{{ end }} |
{{- end }}
{{- end }}
{{ end -}}
{{- end -}}
