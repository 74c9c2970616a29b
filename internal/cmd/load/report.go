package load

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"example.com/fakeapi/internal/printable"
)

// Report is the result of a run.
type Report struct {
	Server    string   `json:"server"`
	Version   string   `json:"version"`
	Namespace string   `json:"namespace"`
	Objects   int      `json:"objects"`
	Figures   []Figure `json:"figures"`
	// Memory is the memory of the server at several points of the run. It is empty if it is not
	// known. MemorySource is its source, or the reason why it is not known.
	Memory       []Memory `json:"memory,omitempty"`
	MemorySource string   `json:"memorySource"`
	// Notes list what was not measured or not removed.
	Notes []string `json:"notes,omitempty"`
}

// Figure is the result of one kind of request. The latencies, in milliseconds, and the rate are of
// the requests that succeeded.
type Figure struct {
	Name string `json:"name"`
	// Resource is the one of Config.Resources that the figure is of, if any.
	Resource  string  `json:"resource,omitempty"`
	Clients   int     `json:"clients"`
	Requests  int     `json:"requests"`
	Failed    int     `json:"failed"`
	PerSecond float64 `json:"perSecond"`
	P50       float64 `json:"p50Milliseconds"`
	P99       float64 `json:"p99Milliseconds"`
	// ProcessorTime is what one request costs the server in processor time (user and system), in
	// microseconds, 0 if it is not known. The server's metric has a resolution of 10 ms for all
	// requests together.
	ProcessorTime float64 `json:"processorMicroseconds,omitempty"`
	// FirstError is the error of the first failed request.
	FirstError string `json:"firstError,omitempty"`
}

// processorTime returns the processor time as text, "-" if it is not known.
func (f Figure) processorTime() string {
	if f.ProcessorTime == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f", f.ProcessorTime)
}

// Memory is the memory of the server at one point of a run.
type Memory struct {
	When  string `json:"when"`
	Bytes uint64 `json:"bytes"`
}

// NewFigure returns the figure of successful requests of a number of clients that took elapsed in
// total. It sorts latencies in place.
func NewFigure(name string, clients int, elapsed time.Duration, latencies []time.Duration) Figure {
	slices.Sort(latencies)
	f := Figure{Name: name, Clients: clients, Requests: len(latencies), P50: percentile(latencies, 50), P99: percentile(latencies, 99)}
	if elapsed > 0 {
		f.PerSecond = float64(len(latencies)) / elapsed.Seconds()
	}
	return f
}

// percentile returns the smallest of the sorted latencies that p percent of them do not exceed, in
// milliseconds.
func percentile(sorted []time.Duration, p int) float64 {
	if len(sorted) == 0 {
		return 0
	}
	rank := (len(sorted)*p + 99) / 100
	return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
}

// Failed returns the number of failed requests and the error of the first.
func (r *Report) Failed() (failed int, first string) {
	for _, f := range r.Figures {
		failed += f.Failed
		if first == "" {
			first = f.FirstError
		}
	}
	return failed, first
}

// Write prints the report as text: a table of the figures, the memory and the notes.
func (r *Report) Write(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(w, "%s, Kubernetes %s, %d objects of a KiB\n\n", r.Server, printable.Word(r.Version), r.Objects) // Flush returns the error
	_, _ = fmt.Fprintln(w, "WHAT\tCLIENTS\tREQUESTS\tFAILED\tPER SECOND\tP50 MS\tP99 MS\tPROCESSOR US")
	for _, f := range r.Figures {
		_, _ = fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%.0f\t%.3f\t%.3f\t%s\n",
			f.Name, f.Clients, f.Requests, f.Failed, f.PerSecond, f.P50, f.P99, f.processorTime())
	}
	_, _ = fmt.Fprintf(w, "\nmemory (%s)\n", r.MemorySource)
	for _, m := range r.Memory {
		_, _ = fmt.Fprintf(w, "  %s\t%.1f MiB\n", m.When, float64(m.Bytes)/(1<<20))
	}
	for _, note := range r.Notes {
		_, _ = fmt.Fprintf(w, "note: %s\n", note)
	}
	return w.Flush()
}
