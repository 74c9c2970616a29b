package validatetest

import (
	"runtime/debug"
	"slices"
	"testing"
)

// AllocsPerRun is testing.AllocsPerRun. With the race detector, with which functions allocate more,
// it only calls f and returns 0.
func AllocsPerRun(runs int, f func()) float64 {
	if hasRaceDetector() {
		f()
		return 0
	}
	return testing.AllocsPerRun(runs, f)
}

func hasRaceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}
