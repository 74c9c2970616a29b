#!/usr/bin/env bash
# Sets the status of workloads, as the controllers and kubelets of a cluster would, until it is killed:
# Deployments have a ReplicaSet and are available, StatefulSets and DaemonSets are ready, Jobs are
# complete, and Pods run, or have succeeded if they are not restarted. It needs jq and kubectl 1.24.
trap 'kill $(jobs -p)' EXIT

# set_status KIND STATUS sets the status of the objects of a kind to the result of a jq expression.
set_status() {
  kubectl get "$1" --all-namespaces --watch --output json |
    jq --unbuffered --raw-output "$2 | [\$o.metadata.namespace, \$o.metadata.name, tojson] | @tsv" |
    while IFS=$'\t' read -r namespace name status; do
      kubectl patch "$1" "$name" --namespace "$namespace" --subresource status --type merge --patch "{\"status\": $status}"
    done
}

# changed selects the objects whose spec has changed.
changed='. as $o | select(.status.observedGeneration != .metadata.generation) | (.spec.replicas // 1) as $n | {observedGeneration: .metadata.generation}'

set_status deployments "$changed + {replicas: \$n, updatedReplicas: \$n, readyReplicas: \$n, availableReplicas: \$n,
  conditions: [{type: \"Available\", status: \"True\"}, {type: \"Progressing\", status: \"True\", reason: \"NewReplicaSetAvailable\"}]}" &
set_status replicasets "$changed + {replicas: \$n, readyReplicas: \$n, availableReplicas: \$n}" &
set_status statefulsets "$changed + {replicas: \$n, updatedReplicas: \$n, readyReplicas: \$n, availableReplicas: \$n, currentRevision: \"1\", updateRevision: \"1\"}" &
set_status daemonsets "$changed + {desiredNumberScheduled: 0, currentNumberScheduled: 0, numberReady: 0, numberMisscheduled: 0}" &
set_status jobs '. as $o | select(.status.completionTime | not) | (now | todate) as $now | {succeeded: 1, ready: 0, startTime: $now, completionTime: $now,
  conditions: [("SuccessCriteriaMet", "Complete") | {type: ., status: "True", lastProbeTime: $now, lastTransitionTime: $now}]}' &
set_status pods '. as $o | select(.status.phase == "Pending") | if .spec.restartPolicy == "Never" then {phase: "Succeeded"}
  else {phase: "Running", conditions: [{type: "Ready", status: "True"}]} end' &

# Helm 3 and kubectl wait for the ReplicaSet of the template of a Deployment.
kubectl get deployments --all-namespaces --watch --output json | jq --unbuffered --compact-output '{
  apiVersion: "apps/v1", kind: "ReplicaSet",
  metadata: {name: .metadata.name, namespace: .metadata.namespace, labels: .spec.template.metadata.labels, ownerReferences: [
    {apiVersion: "apps/v1", kind: "Deployment", name: .metadata.name, uid: .metadata.uid, controller: true}]},
  spec: {replicas: .spec.replicas, selector: .spec.selector, template: .spec.template}}' |
  while read -r replica_set; do kubectl apply --server-side --force-conflicts --filename - <<<"$replica_set"; done
