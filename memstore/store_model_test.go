package memstore_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"example.com/fakeapi/memstore"
)

// programLimits are small, so that short programs reach them, each limit alone and all together.
var programLimits = []memstore.Options{
	{StartRevision: 1000, HistoryAge: time.Hour, HistoryCount: 1_000_000, HistoryBytes: 1 << 40},
	{StartRevision: 1, HistoryAge: time.Hour, HistoryCount: 70, HistoryBytes: 1 << 40},
	{StartRevision: 63, HistoryAge: 10 * time.Second, HistoryCount: 1_000_000, HistoryBytes: 1 << 40},
	{StartRevision: 95, HistoryAge: time.Hour, HistoryCount: 1_000_000, HistoryBytes: 90 * 1024},
	{StartRevision: 98, HistoryAge: 20 * time.Second, HistoryCount: 1, HistoryBytes: 5000},
}

// TestModel executes random programs, which are the same in every run, on the store and on the
// model. Each runs in a bubble, in which sleeping takes no time.
func TestModel(t *testing.T) {
	for i, limits := range programLimits {
		for seed := range uint64(12) {
			t.Run(fmt.Sprintf("limits=%d/seed=%d", i, seed), func(t *testing.T) {
				t.Parallel()
				random := rand.New(rand.NewPCG(seed, uint64(i)))
				program := make([]byte, 2500)
				for i := range program {
					program[i] = byte(random.Uint32())
				}
				synctest.Test(t, func(t *testing.T) { runProgram(t, limits, program) })
			})
		}
	}
}

// FuzzStore executes programs of the fuzzer.
func FuzzStore(f *testing.F) {
	f.Add(uint8(0), []byte{0, 0, 0, 16, 1, 0, 0, 18, 0, 3, 7, 0, 18, 0, 3})
	f.Add(uint8(1), []byte{10, 159, 1, 2, 3, 4, 5, 6, 7, 8, 9, 14, 0, 9, 20, 0, 0, 4, 21, 0, 1})
	f.Add(uint8(2), []byte{0, 0, 1, 23, 7, 0, 1, 2, 23, 7, 16, 0, 0, 3, 18, 0, 0})
	f.Add(uint8(4), []byte{22, 0, 0, 2, 3, 22, 1, 0, 7, 2, 12, 13, 22, 2})
	f.Fuzz(func(t *testing.T, limits uint8, program []byte) {
		if len(program) > 4096 {
			t.Skip("long programs find nothing that shorter ones do not")
		}
		synctest.Test(t, func(t *testing.T) {
			runProgram(t, programLimits[int(limits)%len(programLimits)], program)
		})
	})
}
