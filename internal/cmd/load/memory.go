package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

// resident is the metric of a process's memory that Prometheus's client for Go exports.
const resident = "process_resident_memory_bytes"

// memory adds the memory of the server to the report, if it is known.
func (s *session) memory(ctx context.Context, when string) {
	var now uint64
	if s.config.Memory != nil {
		s.report.MemorySource = s.config.MemorySource
		now = s.config.Memory()
	} else {
		metrics, err := s.clients[0].read(ctx, http.MethodGet, "/metrics", "", nil)
		if err == nil {
			now, err = residentMemory(metrics)
		}
		if err != nil {
			s.report.MemorySource = "not known: " + err.Error()
			return
		}
		s.report.MemorySource = resident + " of /metrics"
	}
	s.report.Memory = append(s.report.Memory, Memory{when, now})
}

// residentMemory finds the metric in the Prometheus text format.
func residentMemory(metrics []byte) (uint64, error) {
	lines := bufio.NewScanner(bytes.NewReader(metrics))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), resident+" "); ok {
			bytes, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return uint64(bytes), err
		}
	}
	return 0, errors.Join(errors.New("/metrics has no "+resident), lines.Err())
}
