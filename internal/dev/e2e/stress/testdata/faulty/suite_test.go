package faulty

import (
	"testing"

	"example.com/fakeapi/internal/dev/e2e/stress/testdata/widgets"
)

func TestExpired(t *testing.T)   { widgets.Run(t, widgets.Expired) }
func TestConflict(t *testing.T)  { widgets.Run(t, widgets.Conflict) }
func TestDuplicate(t *testing.T) { widgets.Run(t, widgets.Duplicate) }
