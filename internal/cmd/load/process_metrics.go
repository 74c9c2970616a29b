package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The metrics of a process that Prometheus's client for Go exports.
const (
	residentMetric      = "process_resident_memory_bytes"
	processorTimeMetric = "process_cpu_seconds_total"
)

// processMetric returns the value of a metric of the server's process, from its /metrics.
func (s *session) processMetric(ctx context.Context, name string) (float64, error) {
	text, err := s.clients[0].read(ctx, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return 0, err
	}
	return findMetric(text, name)
}

// findMetric finds a metric without labels in the Prometheus text format.
func findMetric(text []byte, name string) (float64, error) {
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(strings.TrimSpace(value), 64)
		}
	}
	return 0, errors.Join(errors.New("/metrics has no "+name), lines.Err())
}

// stopwatch measures the processor time of the server between two readings of its metrics, without
// that of a reading, which is most of the time of a short measurement.
type stopwatch struct {
	began, reading float64
}

// startProcessorTime starts a stopwatch. It returns false if the server has no such metric, or is
// in this process, whose metric counts the clients too.
func (s *session) startProcessorTime(ctx context.Context) (stopwatch, bool) {
	if s.config.Memory != nil {
		return stopwatch{}, false
	}
	first, err := s.processMetric(ctx, processorTimeMetric)
	if err != nil {
		return stopwatch{}, false
	}
	second, err := s.processMetric(ctx, processorTimeMetric)
	return stopwatch{began: second, reading: second - first}, err == nil
}

// stopProcessorTime returns the processor time since the start, 0 if it is not known.
func (s *session) stopProcessorTime(ctx context.Context, w stopwatch) time.Duration {
	now, err := s.processMetric(ctx, processorTimeMetric)
	if err != nil {
		return 0
	}
	return max(0, time.Duration((now-w.began-w.reading)*float64(time.Second)))
}
