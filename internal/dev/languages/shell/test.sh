#!/usr/bin/env bash
# A test with kubectl and curl: fakeapi exec -- ./test.sh
set -euo pipefail

# control METHOD PATH [DATA] sends a request to the control API: control GET / lists all.
control() { curl -sS --fail-with-body -X "$1" "$FAKEAPI_CONTROL$2" ${3:+--data-binary "$3"}; }

# Each test begins with the same objects.
control POST /snapshots/empty
before_each() { control POST "/reset?snapshot=empty"; }

before_each
kubectl create configmap settings --from-literal key=1
[[ $(kubectl get configmap settings -o jsonpath={.data.key}) == 1 ]]

# The history is gone: a watch from a resourceVersion gets 410.
before_each
maps=/api/v1/namespaces/default/configmaps
version=$(kubectl get --raw "$maps" | jq -r .metadata.resourceVersion)
control POST /faults 'expired: expire410(resource(configmaps), first(1))'
kubectl get --raw "$maps?watch=true&resourceVersion=$version" | grep '"code":410'
control GET '/hits?rule=expired&wait=60s'

# The object is stored, and the connection breaks before the reply.
before_each
control POST /faults 'lost: when verb(create) && resource(configmaps) && during(committed) && first(1) do reset'
! kubectl create configmap settings || exit 1
kubectl get configmap settings

# A watch breaks when it gets an object.
before_each
control POST /faults 'cut: when event(ADDED) && resource(configmaps) && name(settings) && first(1) do reset'
kubectl get configmaps --watch-only -o name >/dev/null 2>&1 &
control GET '/requests?verb=watch&resource=configmaps&wait=60s'
kubectl create configmap settings
control GET '/hits?rule=cut&wait=60s'
wait $! || true
