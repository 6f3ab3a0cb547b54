{{/* knee.file returns a manifest of config/, for the namespace of the release. Arguments: the root context, the path below files/. */}}
{{- define "knee.file" -}}
{{- $root := index . 0 -}}
{{- $path := printf "files/%s" (index . 1) -}}
{{- required (printf "the chart has no %s: run make generate" $path) ($root.Files.Get $path) | replace "knee-system" $root.Release.Namespace -}}
{{- end -}}

{{/* knee.role returns the Role or RoleBinding for a ClusterRole or ClusterRoleBinding. Arguments: as of knee.file. */}}
{{- define "knee.role" -}}
{{- $object := include "knee.file" . | fromYaml -}}
{{- $_ := set $object "kind" (trimPrefix "Cluster" $object.kind) -}}
{{- $_ := set $object.metadata "namespace" (index . 0).Release.Namespace -}}
{{- if $object.roleRef -}}
{{- $_ := set $object.roleRef "kind" "Role" -}}
{{- end -}}
{{- toYaml $object -}}
{{- end -}}

{{/* knee.image returns the reference of Knee's image. */}}
{{- define "knee.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}
