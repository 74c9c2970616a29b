package discovery

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Versions are in the order of their priorities, those of the same one in the order of versions.
// Groups are in the order of their highest priority. Groups of the same priority are in the order
// of their names in aggregated documents. In other ones they are in the order of their first
// APIService of that priority.
func TestOrderOfRemoteVersions(t *testing.T) {
	remote := []RemoteVersion{
		{Group: "a.example.com", Version: "v2", GroupPriority: 100, VersionPriority: 5},
		{Group: "b.example.com", Version: "v3", GroupPriority: 100, VersionPriority: 1},
		{Group: "b.example.com", Version: "v1", GroupPriority: 100, VersionPriority: 50},
		{Group: "c.example.com", Version: "v1", GroupPriority: 50, VersionPriority: 10},
		{Group: "c.example.com", Version: "v4", GroupPriority: 100, VersionPriority: 10},
		{Group: "d.example.com", Version: "v1beta1", GroupPriority: 200, VersionPriority: 1},
		{Group: "d.example.com", Version: "v1", GroupPriority: 200, VersionPriority: 1},
		{Group: "d.example.com", Version: "v1alpha1", GroupPriority: 200, VersionPriority: 9},
	}
	for i := range remote {
		remote[i].Discovery.Version = remote[i].Version
	}
	versions := map[string]string{
		"a.example.com": "v2", "b.example.com": "v1 v3", "c.example.com": "v4 v1", "d.example.com": "v1alpha1 v1 v1beta1",
	}
	want := func(groups ...string) (lines []string) {
		for _, g := range groups {
			lines = append(lines, g+": "+versions[g])
		}
		return lines
	}

	var legacy []string
	for _, g := range document(t, "/apis", false).WithRemote(remote).Object.(*metav1.APIGroupList).Groups {
		line := g.Name + ":"
		for _, v := range g.Versions {
			line += " " + v.Version
		}
		legacy = append(legacy, line)
		require.Equal(t, g.Versions[0], g.PreferredVersion, g.Name)
	}
	require.Equal(t, want("d.example.com", "b.example.com", "a.example.com", "c.example.com"), legacy[len(legacy)-4:])

	var aggregated []string
	for _, g := range document(t, "/apis", true).WithRemote(remote).Object.(*apidiscoveryv2.APIGroupDiscoveryList).Items {
		line := g.Name + ":"
		for _, v := range g.Versions {
			line += " " + v.Version
		}
		aggregated = append(aggregated, line)
	}
	require.Equal(t, want("d.example.com", "a.example.com", "b.example.com", "c.example.com"), aggregated[len(aggregated)-4:])
}

// Remote versions join the local ones of a group, and replace those of the same name. The other
// groups stay as they are.
func TestRemoteVersionsOfLocalGroups(t *testing.T) {
	remote := []RemoteVersion{
		{Group: "autoscaling", Version: "v1", GroupPriority: 17500, VersionPriority: 100},
		{Group: "batch", Version: "v2", GroupPriority: 17400, VersionPriority: 1},
	}
	local := document(t, "/apis", false)
	want := local.Object.(*metav1.APIGroupList).DeepCopy().Groups
	for i := range want {
		g := &want[i]
		switch g.Name {
		case "autoscaling":
			slices.Reverse(g.Versions) // the remote version has the highest priority
			g.PreferredVersion = g.Versions[0]
		case "batch":
			g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: "batch/v2", Version: "v2"})
		}
	}
	require.Equal(t, want, local.WithRemote(remote).Object.(*metav1.APIGroupList).Groups)

	group := document(t, "/apis/batch", false)
	require.Equal(t, []metav1.GroupVersionForDiscovery{
		{GroupVersion: "batch/v1", Version: "v1"}, {GroupVersion: "batch/v2", Version: "v2"},
	}, group.WithRemote(remote).Object.(*metav1.APIGroup).Versions)
	require.Equal(t, group, group.WithRemote(remote[:1]), "all are of another group")

	_, ok := NewRemoteGroup("other.example.com", remote)
	require.False(t, ok)
	added, ok := NewRemoteGroup("batch", remote)
	require.True(t, ok)
	require.Equal(t, &metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: "batch",
		Versions:         []metav1.GroupVersionForDiscovery{{GroupVersion: "batch/v2", Version: "v2"}},
		PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: "batch/v2", Version: "v2"},
	}, added.Object)
}
