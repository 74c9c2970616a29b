package managedfields

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/fake/internal/resource/builtin"
)

// Whoever reads an object, changes it and sends it back sends the entries, too,
// with times as JSON has them: that must not cost the shortcut, whether the stored
// object was decoded or was kept as it was written.
func TestShortcutOfEntriesThatAreSentBack(t *testing.T) {
	res := builtin.Table().Lookup("", "v1", "configmaps")
	tracker, err := BuiltinFieldManager(res, "")
	require.NoError(t, err)
	live := tracker.Update(nil, decode(t, res, configMap("1")), "author")
	uid(live)
	seen, err := json.Marshal(live)
	require.NoError(t, err)
	sent := decode(t, res, string(seen))
	require.NotEqual(t, accessor(live).GetManagedFields(), accessor(sent).GetManagedFields(), "the times differ in what is not stored")

	entries, ok := tracker.shortcut(live, sent, "other")
	require.True(t, ok)
	require.Len(t, entries, 1)

	m := accessor(sent)
	changed := m.GetManagedFields()
	changed[0].Time = nil
	m.SetManagedFields(changed)
	_, ok = tracker.shortcut(live, sent, "other")
	require.False(t, ok, "entries that the client has changed are for the library")
}
