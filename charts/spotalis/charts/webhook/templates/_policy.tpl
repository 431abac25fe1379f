{{/* A field of cron, for the pattern of one of its values: any, one or a range, with a step or without, and lists. */}}
{{- define "spotalis.cronField" -}}
{{- $item := printf "(?:[*?]|%[1]s(?:-%[1]s)?)(?:/0?[1-9]|/[1-9][0-9])?" . -}}
{{- printf "%[1]s(?:,%[1]s)*" $item -}}
{{- end -}}

{{/* The five fields after a time zone. What needs a calendar or the list of time zones is left to the services. */}}
{{- define "spotalis.cron" -}}
{{- $minute := include "spotalis.cronField" "[0-5]?[0-9]" -}}
{{- $hour := include "spotalis.cronField" "(?:[01]?[0-9]|2[0-3])" -}}
{{- $day := include "spotalis.cronField" "(?:0?[1-9]|[12][0-9]|3[01])" -}}
{{- $months := "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)" -}}
{{- $month := include "spotalis.cronField" (printf "(?:0?[1-9]|1[0-2]|%s)" $months) -}}
{{- $weekday := include "spotalis.cronField" "(?:0?[0-7]|(?i:sun|mon|tue|wed|thu|fri|sat))" -}}
^(?:CRON_TZ=[A-Za-z][A-Za-z0-9_+/-]* +)?{{ join " +" (list $minute $hour $day $month $weekday) }}$
{{- end -}}

{{/* Whether the CEL expression is a duration as Go has it; above a million hours it may not fit into one. */}}
{{- define "spotalis.isDuration" -}}
{{- $units := "(?:ns|us|µs|μs|ms|s|m|h)" -}}
size({{ . }}) <= 100 &&
({{ . }}.matches(r'^[-+]?(?:(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+){{ $units }})+$') || {{ . }}.matches(r'^[-+]?0$')) &&
!{{ . }}.matches(r'(?:^|[^.0-9])0*[1-9][0-9]{6,}(?:\.[0-9]*)?h')
{{- end -}}

{{/* Each annotation: what its text `v` has to be, in words, in CEL, and an example. As the services' parser has them. */}}
{{- define "spotalis.annotationRules" -}}
- name: spot-percentage
  expected: an integer from 0 to 100
  example: '70'
  cel: v.trim().matches(r'^0*(?:100|[0-9]{1,2})%?$')
- name: min-on-demand
  expected: an integer from 0 to 10000
  example: '2'
  cel: v.matches(r'^0*(?:10000|[0-9]{1,4})$')
- name: disruption-schedule
  expected: five fields of cron
  example: CRON_TZ=Europe/Berlin 0 22 * * 1-5
  needs: disruption-duration
  cel: v.matches(r'{{ include "spotalis.cron" . }}')
- name: disruption-duration
  expected: a duration above 0
  example: 2h30m
  needs: disruption-schedule
  cel: |-
    {{- include "spotalis.isDuration" "v" | nindent 4 }} &&
    !v.startsWith('-') && v.matches('[1-9]')
- name: spot-fallback-after
  expected: a duration of 0 or more, or "never"
  example: 2m
  cel: |-
    v == 'never' || (
    {{- include "spotalis.isDuration" "v" | nindent 4 }} &&
    !(v.startsWith('-') && v.matches('[1-9]')))
- name: paused
  expected: '"true" or "false"'
  example: 'true'
  cel: v in ['true', 'false']
{{- end -}}
