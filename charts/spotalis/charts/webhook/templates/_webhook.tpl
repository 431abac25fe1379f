{{- define "spotalis.certificateMode" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
{{- dig "webhook" "certs" "mode" $defaults.webhook.certs.mode .Values.global.config -}}
{{- end -}}

{{/* Settings that contradict each other. */}}
{{- define "spotalis.refuseWebhook" -}}
{{- $most := ternary .Values.autoscaling.maxReplicas .Values.replicas .Values.autoscaling.enabled | int -}}
{{- if and (include "spotalis.isEmbedded" .) (gt $most 1) -}}
{{- fail (printf "global.config.redis.url is memory://, which keeps the ledger inside one webhook, and there may be %d; set a Redis, for example redis://redis:6379, or webhook.replicas=1 and webhook.autoscaling.enabled=false" $most) -}}
{{- end -}}
{{- if and .Values.autoscaling.enabled (gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- fail (printf "webhook.autoscaling.minReplicas is %d, above maxReplicas, which is %d" (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if and (eq (include "spotalis.certificateMode" .) "provided") (not .Values.certificate.secretName) -}}
{{- fail "global.config.webhook.certs.mode is provided, and webhook.certificate.secretName is empty: name the Secret of type kubernetes.io/tls, for example webhook.certificate.secretName=my-certificate" -}}
{{- end -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
{{- $decision := dig "webhook" "decisionTimeout" $defaults.webhook.decisionTimeout .Values.global.config -}}
{{- if gt (addf (include "spotalis.durationMs" $decision | float64) 300.0) (mulf .Values.timeoutSeconds 1000.0) -}}
{{- fail (printf "global.config.webhook.decisionTimeout is %s, within 300ms of webhook.timeoutSeconds, which is %d: answers would come too late; for example 1500ms and 2" $decision (int .Values.timeoutSeconds)) -}}
{{- end -}}
{{- end -}}

{{/* Serving on after the order to stop, then at most 10 s for what is still open, and a margin. */}}
{{- define "spotalis.terminationSeconds" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
{{- $grace := dig "webhook" "drainGrace" $defaults.webhook.drainGrace .Values.global.config -}}
{{- addf (include "spotalis.durationMs" $grace | float64 | mulf 0.001 | ceil) 15 | int -}}
{{- end -}}

{{/* The entry of the registration, without where the webhook is. A map in YAML. */}}
{{- define "spotalis.registration" -}}
{{- $config := include "spotalis.config" . | fromYaml -}}
{{- $text := .Files.Get "registration.yaml" | replace "$(EXCLUDED_NAMESPACES)" (toJson $config.scope.excludedNamespaces) -}}
{{- $entry := $text | replace "$(TIMEOUT_SECONDS)" (toString .Values.timeoutSeconds) | fromYaml -}}
{{- $older := dig "controller" "namespaceSelector" dict $config -}}
{{- $scope := dig "scope" "namespaceSelector" $older $config -}}
{{- $selector := $entry.namespaceSelector -}}
{{- with $config.scope.namespaces }}
{{- $listed := dict "key" "kubernetes.io/metadata.name" "operator" "In" "values" . -}}
{{- $_ := set $selector "matchExpressions" (append $selector.matchExpressions $listed) -}}
{{ end -}}
{{- with $scope.matchLabels }}{{ $_ := set $selector "matchLabels" . }}{{ end -}}
{{- with $scope.matchExpressions }}{{ $_ := set $selector "matchExpressions" (concat $selector.matchExpressions .) }}{{ end -}}
{{- toYaml $entry -}}
{{- end -}}

{{/* Namespaces whose pods the webhook is asked about: the same rule as the services have. */}}
{{- define "spotalis.namespaceSelector" -}}
{{- $entry := include "spotalis.registration" . | fromYaml -}}
{{- toYaml $entry.namespaceSelector -}}
{{- end -}}

{{/* With the autoscaler Helm says what there is already: a number that was there and is no more would become 1, at an
upgrade or on the way back. Without a cluster to ask, as for GitOps, none is said. */}}
{{- define "spotalis.replicas" -}}
{{- if not .Values.autoscaling.enabled -}}
{{ .Values.replicas }}
{{- else if lookup "v1" "Namespace" "" "kube-system" -}}
{{- $live := default dict (lookup "apps/v1" "Deployment" .Release.Namespace (include "spotalis.name" .)) -}}
{{- dig "spec" "replicas" .Values.autoscaling.minReplicas $live -}}
{{- end -}}
{{- end -}}
