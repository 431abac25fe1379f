{{/* As the services call the installation that they are in. */}}
{{- define "spotalis.redis.base" -}}
{{- $release := .Release.Name -}}
{{- if .Chart.IsRoot -}}{{- $release = trimSuffix "-redis" $release -}}{{- end -}}
{{- $release = $release | trunc 34 | trimSuffix "-" -}}
{{- ternary $release (printf "%s-spotalis" $release) (contains "spotalis" $release) -}}
{{- end -}}

{{- define "spotalis.redis.name" -}}
{{ include "spotalis.redis.base" . }}-redis
{{- end -}}

{{- define "spotalis.redis.selectorLabels" -}}
app.kubernetes.io/name: spotalis
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: redis
{{- end -}}

{{- define "spotalis.redis.labels" -}}
{{ include "spotalis.redis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "spotalis.redis.keyPrefix" -}}
{{- dig "redis" "keyPrefix" "spotalis:" .Values.global.config -}}
{{- end -}}

{{/* Given, or the one that is in use, or a new one. */}}
{{- define "spotalis.redis.password" -}}
{{- $secret := default dict (lookup "v1" "Secret" .Release.Namespace (include "spotalis.redis.name" .)) -}}
{{- if .Values.password -}}
{{- .Values.password -}}
{{- else if dig "data" "password" "" $secret -}}
{{- b64dec $secret.data.password -}}
{{- else -}}
{{- randAlphaNum 32 -}}
{{- end -}}
{{- end -}}
