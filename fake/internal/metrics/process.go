package metrics

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
)

// ticks is how many of the units in which Linux tells processor time make a second: USER_HZ, which
// programs see as 100 on every machine.
const ticks = 100

// process is what Linux tells of the process that the server is in, which may be that of a test with
// other servers.
type process struct {
	cpuSeconds, virtual, resident float64
	files, maxFiles, maxVirtual   float64
}

// gatherProcess is empty on systems without /proc.
func gatherProcess() []*dto.MetricFamily {
	p, err := readProcess()
	if err != nil {
		return nil
	}
	one := func(kind dto.MetricType, name, help string, value float64) *dto.MetricFamily {
		return single(kind, "process_"+name, help, value)
	}
	return []*dto.MetricFamily{
		one(dto.MetricType_COUNTER, "cpu_seconds_total", "Total user and system CPU time spent in seconds.", p.cpuSeconds),
		one(dto.MetricType_GAUGE, "max_fds", "Maximum number of open file descriptors.", p.maxFiles),
		one(dto.MetricType_GAUGE, "open_fds", "Number of open file descriptors.", p.files),
		one(dto.MetricType_GAUGE, "resident_memory_bytes", "Resident memory size in bytes.", p.resident),
		one(dto.MetricType_GAUGE, "virtual_memory_bytes", "Virtual memory size in bytes.", p.virtual),
		one(dto.MetricType_GAUGE, "virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes.", p.maxVirtual),
	}
}

func readProcess() (p process, err error) {
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		return p, err
	}
	limits, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		return p, err
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return p, err
	}
	p.files = float64(len(open) - 1) // one of them read this
	return p, errors.Join(p.readStat(stat), p.readLimits(limits))
}

// readStat reads /proc/self/stat (proc_pid_stat(5)). Its second field, the name in parentheses, may hold
// anything.
func (p *process) readStat(stat []byte) error {
	_, behind, found := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	fields := strings.Fields(string(behind))
	if !found || len(fields) < 22 {
		return errors.New("/proc/self/stat is too short")
	}
	var wrong error
	number := func(i int) float64 { // counted from 1, as the manual does
		n, err := strconv.ParseFloat(fields[i-3], 64)
		wrong = errors.Join(wrong, err)
		return n
	}
	p.cpuSeconds = (number(14) + number(15)) / ticks
	p.virtual = number(23)
	p.resident = number(24) * float64(os.Getpagesize())
	return wrong
}

// readLimits reads /proc/self/limits: a name, the soft limit, the hard one and a unit in columns.
func (p *process) readLimits(limits []byte) (err error) {
	for line := range strings.Lines(string(limits)) {
		if columns, is := strings.CutPrefix(line, "Max open files "); is {
			p.maxFiles, err = softLimit(columns)
		} else if columns, is := strings.CutPrefix(line, "Max address space "); is {
			p.maxVirtual, err = softLimit(columns)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// softLimit is the first of the columns. What is not limited is 2 to the 64, as Go's client of
// Prometheus has it.
func softLimit(columns string) (float64, error) {
	soft, _, _ := strings.Cut(strings.TrimSpace(columns), " ")
	if soft == "unlimited" {
		return 1 << 64, nil
	}
	return strconv.ParseFloat(soft, 64)
}
