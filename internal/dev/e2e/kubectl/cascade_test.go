package kubectl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/internal/dev/e2e/internal/poll"
)

// createReplicaSet creates a ReplicaSet that owns two Pods. The second Pod blocks the deletion of
// its owner.
func (u *user) createReplicaSet() {
	u.doWith("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: web}\n"+
		"spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: c, image: i}]}}}\n",
		"create", "-f", "-")
	uid := u.do("get", "replicaset", "web", "-o", "jsonpath={.metadata.uid}")
	for name, blocks := range map[string]string{"web-1": "false", "web-2": "true"} {
		u.doWith("apiVersion: v1\nkind: Pod\nmetadata:\n  name: "+name+"\n  labels: {app: web}\n  ownerReferences:\n"+
			"  - {apiVersion: apps/v1, kind: ReplicaSet, name: web, controller: true, blockOwnerDeletion: "+blocks+", uid: "+uid+"}\n"+
			"spec: {containers: [{name: c, image: i}]}\n", "create", "-f", "-")
	}
}

const replicaSetDeleted = "replicaset.apps \"web\" deleted from default namespace\n"

func (u *user) pods() string { return u.do("get", "pods", "-o", "name") }

// By default the owner is deleted at once, and the objects it owns soon after it.
func TestDeleteInTheBackground(t *testing.T) {
	u := newUser(t)
	u.createReplicaSet()
	require.Equal(t, replicaSetDeleted, u.do("delete", "replicaset", "web"))
	u.doRefused("get", "replicaset", "web")
	poll.Until(t, "the pods to be deleted", func() bool { return u.pods() == "" })
}

// With foreground deletion the owner remains until the dependents that block it are deleted.
func TestDeleteInTheForeground(t *testing.T) {
	u := newUser(t)
	u.createReplicaSet()
	u.do("patch", "pod", "web-2", "-p", `{"metadata":{"finalizers":["example.com/hold"]}}`)
	ended := make(chan result, 1)
	go func() { ended <- u.try("delete", "replicaset", "web", "--cascade=foreground") }()
	poll.Until(t, "the first pod to be deleted", func() bool { return u.pods() == "pod/web-2\n" })
	poll.Until(t, "the second pod to get a deletionTimestamp", func() bool {
		return u.do("get", "pod", "web-2", "-o", "jsonpath={.metadata.deletionTimestamp}") != ""
	})
	require.Equal(t, `["foregroundDeletion"]`, u.do("get", "replicaset", "web", "-o", "jsonpath={.metadata.finalizers}"))
	require.Empty(t, ended)
	u.do("patch", "pod", "web-2", "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
	require.Equal(t, result{out: replicaSetDeleted}, <-ended)
	require.Empty(t, u.pods())
}

// Orphaned dependents remain and have no owner references.
func TestDeleteThatOrphans(t *testing.T) {
	u := newUser(t)
	u.createReplicaSet()
	require.Equal(t, replicaSetDeleted, u.do("delete", "replicaset", "web", "--cascade=orphan"))
	u.doRefused("get", "replicaset", "web")
	require.Equal(t, "pod/web-1\npod/web-2\n", u.pods())
	require.Empty(t, strings.TrimSpace(u.do("get", "pods", "-o", "jsonpath={.items[*].metadata.ownerReferences}")))
}
