package duplicate

import (
	"testing"

	"example.com/fakeapi/internal/dev/e2e/stress/testdata/widgets"
)

func TestWidgets(t *testing.T) { widgets.Run(t, widgets.Duplicate) }
