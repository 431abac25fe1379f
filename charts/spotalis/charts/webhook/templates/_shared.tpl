{{/* Written by scripts/generate-docs.mjs from charts/shared: change it there. */}}
{{/* What one installation is called: its release, with "spotalis" in it. Subcharts that are installed alone, as
spotalis-webhook and spotalis-controller, agree on it. The longest name that is made of it is a Service's, of 63. */}}
{{- define "spotalis.base" -}}
{{- $release := .Release.Name -}}
{{- if and .Chart.IsRoot (has .Chart.Name (list "controller" "webhook")) -}}{{- $release = $release | trimSuffix "-controller" | trimSuffix "-webhook" -}}{{- end -}}
{{- $release = $release | trunc 34 | trimSuffix "-" -}}
{{- ternary $release (printf "%s-spotalis" $release) (contains "spotalis" $release) -}}
{{- end -}}

{{- define "spotalis.name" -}}
{{ include "spotalis.base" . }}-{{ .Chart.Name }}
{{- end -}}

{{/* Of objects outside of namespaces: two installations in two namespaces must not meet. */}}
{{- define "spotalis.clusterName" -}}
{{ include "spotalis.name" . }}.{{ .Release.Namespace }}
{{- end -}}

{{- define "spotalis.selectorLabels" -}}
app.kubernetes.io/name: spotalis
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ .Chart.Name }}
{{- end -}}

{{- define "spotalis.labels" -}}
{{ include "spotalis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "spotalis.serviceAccountName" -}}
{{- default (include "spotalis.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{- define "spotalis.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A duration of the configuration, such as 1m30s, in milliseconds. */}}
{{- define "spotalis.durationMs" -}}
{{- $units := dict "h" 3600000.0 "m" 60000.0 "s" 1000.0 "ms" 1.0 "us" 0.001 "µs" 0.001 "ns" 0.000001 -}}
{{- $ms := 0.0 -}}
{{- range regexFindAll "[0-9.]+(ms|us|µs|ns|h|m|s)" (toString .) -1 -}}
{{- $unit := regexFind "[a-zµ]+$" . -}}
{{- $ms = addf $ms (mulf (trimSuffix $unit . | float64) (get $units $unit)) -}}
{{- end -}}
{{- $ms -}}
{{- end -}}

{{/* The services' one file: what the user wrote, and what the chart knows better. A map in YAML. */}}
{{- define "spotalis.config" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
{{- $config := deepCopy .Values.global.config -}}
{{- $webhook := default dict $config.webhook -}}
{{- if not $webhook.configurationName -}}
{{- $_ := set $webhook "configurationName" (printf "%s.%s" (include "spotalis.base" .) .Release.Namespace) -}}
{{- end -}}
{{- $certs := default dict $webhook.certs -}}
{{- $service := printf "%s-webhook" (include "spotalis.base" .) -}}
{{- $certs = merge $certs (dict "name" (printf "%s-certificate" $service) "service" $service) -}}
{{- $_ := set $webhook "certs" $certs -}}
{{- $_ := set $config "webhook" $webhook -}}
{{- $scope := default dict $config.scope -}}
{{- $excluded := default $defaults.scope.excludedNamespaces $scope.excludedNamespaces -}}
{{- if kindIs "string" $excluded -}}{{- $excluded = list $excluded -}}{{- end -}}
{{- $_ := set $scope "excludedNamespaces" (concat $excluded (list "kube-system" .Release.Namespace) | uniq) -}}
{{- $listed := default list $scope.namespaces -}}
{{- if kindIs "string" $listed -}}{{- $listed = list $listed -}}{{- end -}}
{{- range $listed -}}
{{- if has . $scope.excludedNamespaces -}}
{{- fail (printf "global.config.scope.namespaces has %s, which is in scope.excludedNamespaces, is kube-system or is the installation's own: nothing is managed there; list others, for example [shop, bank]" .) -}}
{{- end -}}
{{- end -}}
{{- if $listed -}}{{- $_ := set $scope "namespaces" (uniq $listed) -}}{{- end -}}
{{- $_ := set $config "scope" $scope -}}
{{- $fallback := default dict $config.fallback -}}
{{- $class := printf "%s-placeholder.%s" (include "spotalis.base" .) .Release.Namespace -}}
{{- $_ := set $config "fallback" (merge $fallback (dict "placeholderPriorityClass" $class)) -}}
{{- $_ := set $config "redis" (include "spotalis.redis" . | fromYaml) -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Without an address: the Redis of this release, whose Secret has the password. */}}
{{- define "spotalis.redis" -}}
{{- $redis := deepCopy (default dict .Values.global.config.redis) -}}
{{- $secret := .Values.global.redisSecret -}}
{{- if include "spotalis.redisIsNamed" . -}}
{{- if and $secret.name (not $redis.passwordFile) -}}
{{- $_ := set $redis "passwordFile" (printf "/etc/spotalis/redis/%s" $secret.passwordKey) -}}
{{- end -}}
{{- if and $secret.name $secret.caKey -}}
{{- $tls := default dict $redis.tls -}}
{{- if not $tls.caFile -}}{{- $_ := set $tls "caFile" (printf "/etc/spotalis/redis/%s" $secret.caKey) -}}{{- end -}}
{{- $_ := set $redis "tls" $tls -}}
{{- end -}}
{{- else -}}
{{- if .Chart.IsRoot -}}
{{- fail "global.config.redis names no server, and this chart alone brings none: set one, for example global.config.redis.url=redis://redis:6379" -}}
{{- end -}}
{{- $_ := set $redis "url" (printf "redis://%s-redis:6379" (include "spotalis.base" .)) -}}
{{- $_ := set $redis "username" "spotalis" -}}
{{- $_ := set $redis "passwordFile" "/etc/spotalis/redis/password" -}}
{{- end -}}
{{- toYaml $redis -}}
{{- end -}}

{{/* Not empty where the configuration names a server. */}}
{{- define "spotalis.redisIsNamed" -}}
{{- with .Values.global.config.redis -}}
{{- if or .url (dig "sentinel" "nodes" list .) (dig "cluster" "nodes" list .) }}yes{{ end -}}
{{- end -}}
{{- end -}}

{{/* Not empty where the ledger is kept inside the one webhook. */}}
{{- define "spotalis.isEmbedded" -}}
{{- if hasPrefix "memory:" (dig "redis" "url" "" .Values.global.config | toString) }}yes{{ end -}}
{{- end -}}

{{- define "spotalis.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "spotalis.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* Startup: ready at least once within five minutes, else begin anew. Readiness: send work here. Liveness: a
restart would help, because the event loop stands still. */}}
{{- define "spotalis.probes" -}}
startupProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 300
readinessProbe:
  httpGet: { path: /readyz, port: health }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
livenessProbe:
  httpGet: { path: /healthz, port: health }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
{{- end -}}

{{- define "spotalis.mounts" -}}
- name: config
  mountPath: /etc/spotalis/config
  readOnly: true
{{- if include "spotalis.redisSecretName" . }}
- name: redis
  mountPath: /etc/spotalis/redis
  readOnly: true
{{- end }}
{{- end -}}

{{- define "spotalis.volumes" -}}
- name: config
  configMap:
    name: {{ include "spotalis.name" . }}
{{- with include "spotalis.redisSecretName" . }}
- name: redis
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- end -}}

{{- define "spotalis.redisSecretName" -}}
{{- if include "spotalis.redisIsNamed" . -}}
{{ .Values.global.redisSecret.name }}
{{- else -}}
{{ include "spotalis.base" . }}-redis
{{- end -}}
{{- end -}}

{{/* Not empty where a module is on. */}}
{{- define "spotalis.isOn" -}}
{{- $defaults := include "spotalis.defaults" .context | fromYaml -}}
{{- $isOn := dig "modules" .module "enabled" false $defaults -}}
{{- if dig "modules" .module "enabled" $isOn .context.Values.global.config }}yes{{ end -}}
{{- end -}}

{{/* The rules under rbac/ for each of the reaches, which the tests of the project read, too: the service's own, and
those of the modules that are on. */}}
{{- define "spotalis.rules" -}}
{{- $context := .context -}}
{{- $texts := list -}}
{{- range $reach := .reaches -}}
{{- $texts = append $texts ($context.Files.Get (printf "rbac/%s.yaml" $reach)) -}}
{{- range $path, $_ := $context.Files.Glob (printf "rbac/modules/*/%s.yaml" $reach) -}}
{{- if include "spotalis.isOn" (dict "context" $context "module" (dir $path | base)) -}}
{{- $texts = append $texts ($context.Files.Get $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $config := include "spotalis.config" $context | fromYaml -}}
{{- $rules := join "\n" $texts | replace "$(CONFIGURATION_NAME)" $config.webhook.configurationName | replace "$(CERTIFICATE_NAME)" $config.webhook.certs.name | trim -}}
{{- ternary (printf "rules:\n%s" $rules) "rules: []" (ne $rules "") -}}
{{- end -}}

{{/* The CRDs of modules. A module's come when it is turned on, and stay when it is turned off: deleting a CRD deletes
all of its objects. `files` are those of the chart of the controller, who looks at the objects. */}}
{{- define "spotalis.crds" -}}
{{- $context := .context -}}
{{- $files := .files -}}
{{- $keep := .keep -}}
{{- $release := printf "%s/%s" $context.Release.Namespace $context.Release.Name -}}
{{- range $path, $_ := $files.Glob "files/crds/*/*.yaml" }}
{{- $crd := $files.Get $path | fromYaml }}
{{- $isOn := include "spotalis.isOn" (dict "context" $context "module" (dir $path | base)) }}
{{- $there := lookup "apiextensions.k8s.io/v1" "CustomResourceDefinition" "" $crd.metadata.name }}
{{- $of := dig "metadata" "annotations" dict $there }}
{{- $isOurs := eq $release (printf "%s/%s" (dig "meta.helm.sh/release-namespace" "" $of) (dig "meta.helm.sh/release-name" "" $of)) }}
{{- if or $isOn $isOurs }}
---
apiVersion: {{ $crd.apiVersion }}
kind: {{ $crd.kind }}
metadata:
  name: {{ $crd.metadata.name }}
  labels:
    {{- include "spotalis.labels" $context | nindent 4 }}
  {{- if $keep }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
spec:
  {{- toYaml $crd.spec | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Where workloads may be managed, if not everywhere. A list in YAML. */}}
{{- define "spotalis.namespaces" -}}
{{- $config := include "spotalis.config" . | fromYaml -}}
{{- toYaml (default list $config.scope.namespaces) -}}
{{- end -}}

{{/* What a service may do where workloads are, one Role for each listed namespace. Named after the installation, of
which there may be several. */}}
{{- define "spotalis.workloadRoles" -}}
{{- $root := .context -}}
{{- $reaches := .reaches -}}
{{- range include "spotalis.namespaces" $root | fromYamlArray }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ include "spotalis.clusterName" $root }}
  namespace: {{ . }}
  labels:
    {{- include "spotalis.labels" $root | nindent 4 }}
{{ include "spotalis.rules" (dict "context" $root "reaches" $reaches) }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ include "spotalis.clusterName" $root }}
  namespace: {{ . }}
  labels:
    {{- include "spotalis.labels" $root | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "spotalis.clusterName" $root }}
subjects:
  - kind: ServiceAccount
    name: {{ include "spotalis.serviceAccountName" $root }}
    namespace: {{ $root.Release.Namespace }}
{{- end }}
{{- end -}}

{{- define "spotalis.scheduling" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Of the configuration. */}}
{{- define "spotalis.ports" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
- name: health
  containerPort: {{ dig "health" "port" $defaults.health.port . }}
{{- if dig "metrics" "enabled" $defaults.metrics.enabled . }}
- name: metrics
  containerPort: {{ dig "metrics" "port" $defaults.metrics.port . }}
{{- end }}
{{- end -}}

{{/* Who may come in besides work: probes, and whoever collects metrics. */}}
{{- define "spotalis.observers" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
- ports:
    - port: {{ dig "health" "port" $defaults.health.port .config }}
{{- if dig "metrics" "enabled" $defaults.metrics.enabled .config }}
- ports:
    - port: {{ dig "metrics" "port" $defaults.metrics.port .config }}
  {{- with .from }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* Changes when the pods have to be begun anew: not for what they pick up while running. */}}
{{- define "spotalis.restartSum" -}}
{{- $config := include "spotalis.config" . | fromYaml -}}
{{- range .Files.Lines "reloadable.txt" -}}
{{- if . -}}{{- include "spotalis.forget" (dict "in" $config "path" (splitList "." .)) -}}{{- end -}}
{{- end -}}
{{- toYaml $config | sha256sum -}}
{{- end -}}

{{/* Takes a key out of a map, and every map that this leaves empty. */}}
{{- define "spotalis.forget" -}}
{{- $name := first .path -}}
{{- $inner := get .in $name -}}
{{- if and (gt (len .path) 1) (kindIs "map" $inner) -}}
{{- include "spotalis.forget" (dict "in" $inner "path" (rest .path)) -}}
{{- if not $inner -}}{{- $_ := unset .in $name -}}{{- end -}}
{{- else if eq (len .path) 1 -}}
{{- $_ := unset .in $name -}}
{{- end -}}
{{- end -}}

{{/* For the Prometheus operator. */}}
{{- define "spotalis.monitoring" -}}
{{- $defaults := include "spotalis.defaults" . | fromYaml -}}
{{- $wanted := or .Values.metrics.serviceMonitor.enabled .Values.metrics.podMonitor.enabled -}}
{{- if and $wanted (not (dig "metrics" "enabled" $defaults.metrics.enabled .Values.global.config)) -}}
{{- fail (printf "%s.metrics has a monitor enabled, and global.config.metrics.enabled is false: there is nothing to scrape" .Chart.Name) -}}
{{- end -}}
{{- /* What the services say of a workload has its own namespace as a label, and not the service's. */ -}}
{{- $endpoint := dict "port" "metrics" "interval" .Values.metrics.interval "honorLabels" true -}}
{{- if .Values.metrics.serviceMonitor.enabled }}
apiVersion: v1
kind: Service
metadata:
  name: {{ include "spotalis.name" . }}-metrics
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "spotalis.labels" . | nindent 4 }}
    spotalis.io/metrics: "true"
spec:
  clusterIP: None
  # Of replicas that are not ready, too.
  publishNotReadyAddresses: true
  selector:
    {{- include "spotalis.selectorLabels" . | nindent 4 }}
  ports:
    - name: metrics
      port: {{ dig "metrics" "port" $defaults.metrics.port .Values.global.config }}
      targetPort: metrics
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: {{ include "spotalis.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "spotalis.labels" . | nindent 4 }}
    {{- with .Values.metrics.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "spotalis.selectorLabels" . | nindent 6 }}
      spotalis.io/metrics: "true"
  endpoints:
    - {{- toYaml $endpoint | nindent 6 }}
---
{{- end }}
{{- if .Values.metrics.podMonitor.enabled }}
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata:
  name: {{ include "spotalis.name" . }}
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "spotalis.labels" . | nindent 4 }}
    {{- with .Values.metrics.labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  selector:
    matchLabels:
      {{- include "spotalis.selectorLabels" . | nindent 6 }}
  podMetricsEndpoints:
    - {{- toYaml $endpoint | nindent 6 }}
{{- end }}
{{- end -}}

{{/* Where the services may go, as rules of a NetworkPolicy: to names, to the API server, to Redis. */}}
{{- define "spotalis.egress" -}}
- ports:
    - { port: 53, protocol: UDP }
    - { port: 53, protocol: TCP }
- ports:
    {{- range .Values.networkPolicy.egress.apiServerPorts }}
    - port: {{ . }}
    {{- end }}
{{- if include "spotalis.redisIsNamed" . }}
{{- with include "spotalis.redisPorts" . | fromYamlArray }}
- ports:
    {{- range . }}
    - port: {{ . }}
    {{- end }}
{{- end }}
{{- else }}
- to:
    - podSelector:
        matchLabels:
          app.kubernetes.io/name: spotalis
          app.kubernetes.io/component: redis
  ports:
    - port: 6379
{{- end }}
{{- with .Values.networkPolicy.egress.more }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* On which ports the servers listen that the configuration names. A list in YAML. Sentinels tell of servers that are
not named: those are taken to be on the usual one. */}}
{{- define "spotalis.redisPorts" -}}
{{- $redis := .Values.global.config.redis -}}
{{- $ports := list -}}
{{- with $redis.url -}}
{{- if not (hasPrefix "memory:" .) -}}
{{- $ports = append $ports (regexFind ":[0-9]+$" (urlParse .).host | trimPrefix ":" | default "6379" | int) -}}
{{- end -}}
{{- end -}}
{{- if dig "sentinel" "nodes" list $redis -}}{{- $ports = append $ports 6379 -}}{{- end -}}
{{- range $mode := list "sentinel" "cluster" -}}
{{- $nodes := dig $mode "nodes" list $redis -}}
{{- if kindIs "string" $nodes -}}{{- $nodes = list $nodes -}}{{- end -}}
{{- range $nodes -}}{{- $ports = append $ports (regexFind "[0-9]+$" . | int) -}}{{- end -}}
{{- end -}}
{{- toYaml (uniq $ports) -}}
{{- end -}}
