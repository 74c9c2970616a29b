#!/usr/bin/env bash
# Tests a chart with the helm that is on PATH: fakeapi exec -- ./test.sh
set -euo pipefail
ready=$(dirname "$(realpath "$0")")/ready.sh
directory=$(mktemp -d)
cd "$directory"

# Without this, nothing becomes ready: leave it out, and --wait with it.
"$ready" >ready.log 2>&1 &
trap 'kill $!; rm -rf "$directory"' EXIT

helm create shop # or the path of your chart
cat >shop/templates/migrate.yaml <<'HOOK'
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-migrate
  annotations: {helm.sh/hook: "pre-install,pre-upgrade", helm.sh/hook-delete-policy: before-hook-creation}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: busybox}]
HOOK

helm lint shop
helm template web shop --dry-run=server >manifests.yaml
helm install web shop --wait --timeout 3m
helm test web
helm upgrade web shop --set replicaCount=3 --wait --timeout 3m
[[ $(kubectl get deployment web-shop -o jsonpath={.spec.replicas}) == 3 ]]
helm rollback web 1 --wait --timeout 3m
[[ $(kubectl get deployment web-shop -o jsonpath={.spec.replicas}) == 1 ]]
helm history web
helm get manifest web | kubectl diff -f -
helm uninstall web
[[ -z $(helm list --short) ]]

# The Service is stored, and the connection breaks before the reply: the installation fails, and the
# next one completes it.
curl -sS -X POST "$FAKEAPI_CONTROL/faults" --data-binary \
  'lost: when verb(create, patch) && resource(services) && during(committed) && first(1) do reset'
! helm install second shop || exit 1
curl -sS "$FAKEAPI_CONTROL/hits?rule=lost&wait=60s"
helm upgrade --install second shop
[[ $(helm list --short) == second ]]
curl -sS "$FAKEAPI_CONTROL/timeline" | tail -3
