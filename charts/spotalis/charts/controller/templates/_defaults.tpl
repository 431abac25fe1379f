{{/* Written by scripts/generate-docs.mjs: what the services assume where the configuration says nothing. */}}
{{- define "spotalis.defaults" -}}
readOnlyMode: false
controller:
  resyncPeriod: 30s
  workers: 5
  leaderElection:
    enabled: true
    leaseDuration: 15s
    renewDeadline: 10s
    retryPeriod: 2s
scope:
  namespaces: []
  namespaceSelector: {}
  excludedNamespaces:
    - kube-system
    - kube-public
    - kube-node-lease
rebalance:
  cooldown: 10s
  maxMovesPerMinute: 60
  maxInFlight:
    cluster: 20
    namespace: 5
    node: 1
    workload: 1
  minPodAge: 1m
  moveTimeout: 10m
  allowSingleReplica: false
fallback:
  probe: placeholder
  placeholderImage: registry.k8s.io/pause:3.10
  placeholderPriorityClass: spotalis-placeholder
  maxPlaceholders: 3
  placeholderTimeout: 5m
  after: 2m
  maxRemovalsPerMinute: 300
  backoff:
    initial: 1m
    max: 30m
webhook:
  configurationName: spotalis
  port: 9443
  certDir: /tmp/k8s-webhook-server/serving-certs
  certs:
    mode: auto
    name: spotalis-webhook-certificate
    service: spotalis-webhook
    names: []
    lifetime: 2160h
    checkPeriod: 10s
  decisionTimeout: 1500ms
  rehearsal: 300
  drainGrace: 5s
nodeLabels:
  spot:
    - karpenter.sh/capacity-type=spot
  onDemand:
    - karpenter.sh/capacity-type=on-demand
placement:
  tolerations: []
  nodeAffinity:
    spot: []
    onDemand: []
  assumeLabels: false
  spreadSpotOverZones: false
modules:
  distribution:
    enabled: true
  rightsizing:
    enabled: false
defaults: {}
redis:
  sentinel:
    name: mymaster
    nodes: []
    tls: false
  cluster:
    nodes: []
  tls:
    enabled: false
  keyPrefix: "spotalis:"
  commandTimeout: 200ms
logging:
  level: info
  format: json
metrics:
  enabled: true
  port: 8080
health:
  port: 8081
debug:
  port: 8082
{{- end -}}
