//go:build unix

package perturb_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/fakeapi/scenario/perturb"
	"example.com/fakeapi/scenario/perturb/internal/operators"
)

// BenchmarkRuns measures the processor time of perturbed runs of an operator that has two small
// resources, and of a larger one. It also prints the time of a thousand runs on two processors.
func BenchmarkRuns(b *testing.B) {
	all := operators.All()
	for _, o := range []operators.Operator{all[len(all)-1], operators.Clean()} {
		b.Run(o.Name, func(b *testing.B) {
			runs, before := 0, processorTime(b)
			for b.Loop() {
				config := perturbed(o, o.Repaired, 0)
				report, err := perturb.Search(config)
				require.NoError(b, err)
				require.Empty(b, report.Findings)
				runs += report.Runs
			}
			each := (processorTime(b) - before).Seconds() / float64(runs)
			b.ReportMetric(each*1e3, "cpu-ms/run")
			b.ReportMetric(each*1000/2, "s/1000-runs-on-2-cpus")
			b.ReportMetric(float64(runs)/float64(b.N), "runs/op")
		})
	}
}

// processorTime returns the processor time of this process.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
