package metrics

import (
	"io"
	"net/http"
	"strconv"

	"github.com/prometheus/common/expfmt"
)

// ServeHTTP answers /metrics. A client that takes Prometheus' protobuf gets that, all
// others text; as on a real server there is no OpenMetrics. DELETE begins anew, any other
// method reads.
func (s *Recorder) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete {
		s.Reset()
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "metrics reset\n")
		return
	}
	format := expfmt.Negotiate(r.Header)
	w.Header().Set("Content-Type", string(format))
	w.Header().Set("Process-Start-Time-Unix", strconv.FormatInt(s.begin.Unix(), 10))
	out := expfmt.NewEncoder(w, format)
	for _, f := range s.gather() {
		if err := out.Encode(f); err != nil {
			return // the client has gone
		}
	}
}
