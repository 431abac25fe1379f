{{- define "spotalis.elects" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
{{- if dig "controller" "leaderElection" "enabled" $defaults.controller.leaderElection.enabled .Values.global.config }}yes{{ end -}}
{{- end -}}

{{- define "spotalis.leaseNamespace" -}}
{{- default .Release.Namespace (dig "controller" "leaderElection" "namespace" "" .Values.global.config) -}}
{{- end -}}

{{/* Settings that contradict each other. */}}
{{- define "spotalis.refuseController" -}}
{{- if and (not (include "spotalis.elects" .)) (gt (int .Values.replicas) 1) -}}
{{- fail (printf "global.config.controller.leaderElection.enabled is false, and controller.replicas is %d: all of them would act at once; set controller.replicas=1, or leave the election on" (int .Values.replicas)) -}}
{{- end -}}
{{- end -}}
