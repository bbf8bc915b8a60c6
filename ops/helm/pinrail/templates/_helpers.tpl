{{- define "pinrail.labels" -}}
app.kubernetes.io/name: pinrail
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "pinrail.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end -}}
{{- end }}

{{/*
The labels and annotations of a pod, from (dict "root" $ "name" <component> "process" <its values>).
*/}}
{{- define "pinrail.podMetadata" -}}
labels: {{- include "pinrail.labels" .root | nindent 2 }}
  app.kubernetes.io/component: {{ .name }}
  {{- with .process.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .process.podAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/*
The node and the user of a pod, from the same. The processes run as user 1000 on a read-only tree, write only to the folder
for temporary files, and have no token of the cluster: a cloud's identity reaches them by the service account's name.
*/}}
{{- define "pinrail.pod" -}}
{{- $root := .root -}}
serviceAccountName: {{ include "pinrail.serviceAccount" . }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
automountServiceAccountToken: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .process.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .process.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .process.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .process.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "pinrail.serviceAccount" -}}
{{- with .process.serviceAccount -}}
{{ .name | default (ternary (printf "%s-%s" $.root.Release.Name $.name) "default" .create) }}
{{- end -}}
{{- end }}

{{/* The service account that a process has of its own, from the same. */}}
{{- define "pinrail.ownServiceAccount" -}}
{{- if .process.serviceAccount.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "pinrail.serviceAccount" . }}
  labels: {{- include "pinrail.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .name }}
  {{- with .process.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}
{{- end }}

{{- define "pinrail.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* The URLs of the simulators, in place of the partners' own. */}}
{{- define "pinrail.sandboxUrls" -}}
{{- if .Values.sandbox.enabled }}
WALLET_APP_URL: http://{{ .Release.Name }}-sandbox/wallet-app
CARD_PARTNER_URL: http://{{ .Release.Name }}-sandbox/card-partner
LOCAL_PARTNER_URL: http://{{ .Release.Name }}-sandbox/local-partner
CONVERTER_URL: http://{{ .Release.Name }}-sandbox/converter
{{- end }}
{{- end }}

{{/*
The variables of a process, from (list <variables> <its values>): those that are no secrets, and `extraEnv` as Kubernetes
writes them, which may come from any Secret.
*/}}
{{- define "pinrail.env" -}}
{{- range $name, $value := index . 0 }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- with (index . 1).extraEnv }}
{{- toYaml . | nindent 0 }}
{{- end }}
{{- end }}
