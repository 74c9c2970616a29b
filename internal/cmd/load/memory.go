package load

import "context"

// memory adds the memory of the server to the report, if it is known.
func (s *session) memory(ctx context.Context, when string) {
	var now uint64
	if s.config.Memory != nil {
		s.report.MemorySource = s.config.MemorySource
		now = s.config.Memory()
	} else {
		bytes, err := s.processMetric(ctx, residentMetric)
		if err != nil {
			s.report.MemorySource = "not known: " + err.Error()
			return
		}
		s.report.MemorySource = residentMetric + " of /metrics"
		now = uint64(bytes)
	}
	s.report.Memory = append(s.report.Memory, Memory{when, now})
}
