#!/usr/bin/env bash
# Runs the common commands of kubectl, of the version that is on PATH, against the server of KUBECONFIG.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
manifests=$PWD/manifests
cd "$(mktemp -d)"
trap 'rm -rf "$PWD"' EXIT

fail() { echo "${BASH_SOURCE[1]}:${BASH_LINENO[1]}: $*" >&2; exit 1; }

# prints EXPECTED COMMAND... fails unless the command succeeds and its output contains EXPECTED.
prints() {
  local output
  output=$("${@:2}" 2>&1) || fail "${*:2}: $output"
  [[ $output == *"$1"* ]] || fail "${*:2} did not print $1: $output"
}

# is EXPECTED COMMAND... fails unless the output of the command is EXPECTED.
is() {
  local output
  output=$("${@:2}") || fail "${*:2}: $output"
  [[ $output == "$1" ]] || fail "${*:2} printed $output, not $1"
}

# fails EXPECTED COMMAND... fails unless the command fails, with EXPECTED in its output.
fails() {
  local output
  ! output=$("${@:2}" 2>&1) || fail "${*:2} succeeded: $output"
  [[ $output == *"$1"* ]] || fail "${*:2} did not print $1: $output"
}

minor=$(kubectl version --client -o json | jq -r '.clientVersion.gitVersion | split(".")[1]')

# Discovery.
prints 'Server Version' kubectl version
prints 'is running at' kubectl cluster-info
prints 'deploy ' kubectl api-resources
prints 'apps/v1' kubectl api-versions
prints 'KIND:' kubectl explain deployments.spec.template
is ok kubectl get --raw /readyz
prints 'kube-system' kubectl get namespaces

# Objects.
prints 'namespace/shop created' kubectl create namespace shop
kubectl config set-context --current --namespace shop >/dev/null
prints 'configmap/settings created' kubectl create configmap settings --from-literal key=1
prints 'secret/password created' kubectl create secret generic password --from-literal key=1
prints 'deployment.apps/web created' kubectl apply -f "$manifests/web.yaml"
prints 'deployment.apps/web unchanged' kubectl apply -f "$manifests/web.yaml"
prints 'serverside-applied' kubectl apply --server-side --field-manager tests --force-conflicts -f "$manifests/web.yaml"
prints 'deployment.apps/blue-web created' kubectl apply -k "$manifests"
prints 'job.batch/job created' kubectl create job job --image busybox
if ((minor > 20)); then
  prints 'cronjob.batch/cron created' kubectl create cronjob cron --image busybox --schedule '* * * * *'
else # which requests batch/v1beta1
  fails 'could not find the requested resource' kubectl create cronjob cron --image busybox --schedule '* * * * *'
fi
prints 'pod/shell created' kubectl run shell --image busybox
prints 'deployment.apps/generated created (dry run)' kubectl create deployment generated --image nginx --dry-run=client
prints 'deployment.apps/generated created (server dry run)' kubectl create deployment generated --image nginx --dry-run=server
kubectl create deployment piped --image nginx --dry-run=client -o yaml | prints 'deployment.apps/piped created' kubectl apply -f -
fails 'already exists' kubectl create configmap settings
fails 'NotFound' kubectl get configmap absent
fails "doesn't have a resource type" kubectl get absent
fails 'is invalid' kubectl create -f - <<<'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "A b"}}'

# Reading.
prints 'UP-TO-DATE' kubectl get deployments
prints 'nginx:1' kubectl get deployments web -o wide
is 2 kubectl get deployment web -o 'jsonpath={.spec.replicas}'
is web kubectl get deployment -l app=web --field-selector metadata.name=web -o 'custom-columns=:metadata.name' --no-headers
prints '"kind": "Deployment"' kubectl get deployment web -o json
prints 'kind: Deployment' kubectl get -f "$manifests/web.yaml" -o yaml
prints 'service/blue-web' kubectl get all
prints 'Replicas:' kubectl describe deployment web
prints 'key' kubectl describe configmap settings
prints 'shell' kubectl get pods --all-namespaces --sort-by metadata.name --show-labels

# Changes.
prints 'patched' kubectl patch configmap settings --type merge -p '{"data": {"key": "2"}}'
prints 'patched' kubectl patch configmap settings --type json -p '[{"op": "replace", "path": "/data/key", "value": "3"}]'
prints 'patched' kubectl patch deployment web -p '{"spec": {"template": {"spec": {"containers": [{"name": "side", "image": "busybox"}]}}}}'
is 'side main' kubectl get deployment web -o 'jsonpath={.spec.template.spec.containers[*].name}'
is 3 kubectl get configmap settings -o 'jsonpath={.data.key}'
prints 'labeled' kubectl label configmap settings tier=front
prints 'annotated' kubectl annotate configmap settings note=1
prints 'scaled' kubectl scale deployment web --replicas 5
fails 'Expected replicas to be 2' kubectl scale deployment web --replicas 1 --current-replicas 2
prints 'image updated' kubectl set image deployment/web main=nginx:2
prints 'env updated' kubectl set env deployment/web A=1
prints 'restarted' kubectl rollout restart deployment web
prints 'exposed' kubectl expose deployment piped --port 80
prints 'autoscaled' kubectl autoscale deployment piped --min 1 --max 2
printf '#!/bin/sh\nsed -i "s/key:.*/key: \\"4\\"/" "$1"\n' >editor
chmod +x editor
EDITOR=$PWD/editor prints 'edited' kubectl edit configmap settings
is 4 kubectl get configmap settings -o 'jsonpath={.data.key}'
kubectl get configmap settings -o yaml | sed 's/key:.*/key: "5"/' | prints 'replaced' kubectl replace -f -
fails 'modified' kubectl replace -f - <<<'{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "resourceVersion": "1"}}'
sed 's/nginx:1/nginx:3/' "$manifests/web.yaml" >web.yaml
! kubectl diff -f web.yaml >diff || fail 'no difference'
grep -q '+.*image: nginx:3' diff || fail 'kubectl diff does not print the image'
prints 'created' kubectl create -f - <<<'{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waits"}, "spec": {"containers": [{"name": "main", "image": "busybox"}]}}'

# Watches and waits.
kubectl get configmaps --watch-only -o name >watched &
watch=$!
kubectl wait pod waits --for condition=Ready --timeout 3m >waited &
wait=$!
for ((i = 0; i < 200; i++)); do
  kubectl annotate --overwrite configmap settings note=$i >/dev/null
  ! grep -q configmap/settings watched || break
done
grep -q configmap/settings watched || fail 'kubectl get --watch printed nothing'
kill "$watch"
kubectl get pod waits -o json | jq '.status.conditions = [{type: "Ready", status: "True"}]' |
  kubectl replace --raw /api/v1/namespaces/shop/pods/waits/status -f - >/dev/null
wait "$wait" || fail 'kubectl wait failed'
prints 'condition met' cat waited

# Permissions.
prints 'created' kubectl create serviceaccount robot
prints 'created' kubectl create role reader --verb get,list --resource configmaps
prints 'created' kubectl create rolebinding reader --role reader --serviceaccount shop:robot
is yes kubectl auth can-i get configmaps

# Custom resources.
kubectl apply -f - >/dev/null <<'CRD'
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, shortNames: [wi]}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {size: {type: integer, description: The size.}}}}}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
CRD
prints 'condition met' kubectl wait crd widgets.shop.example.com --for condition=Established --timeout 3m
prints 'created' kubectl apply -f - <<<'{"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"size": 7}}'
prints 'SIZE' kubectl get wi
prints 'The size.' kubectl explain widgets.spec.size
fails 'integer' kubectl apply -f - <<<'{"apiVersion": "shop.example.com/v1", "kind": "Widget", "metadata": {"name": "v"}, "spec": {"size": "x"}}'

# Deletes.
prints 'deleted' kubectl delete configmap settings
prints 'deleted' kubectl delete -f "$manifests/web.yaml"
prints 'deleted' kubectl delete pods --all --grace-period 0 --force
prints 'deleted' kubectl delete namespace shop
fails 'NotFound' kubectl get namespace shop
