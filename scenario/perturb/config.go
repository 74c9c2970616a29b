package perturb

import (
	"errors"
	"io"
	"maps"
	"runtime"
	"slices"
	"time"

	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

// Config is what is perturbed, and how.
type Config struct {
	// Controllers are the controllers under test by name, which is also their user agent. All are
	// run after Setup. One that returns an error is run again after ten seconds, as by a kubelet.
	Controllers map[string]scenario.Client
	// Options are additional options of the servers.
	Options []fakeapi.Option
	// Setup are the steps before the controllers run. They are not perturbed.
	Setup []scenario.Step
	// Workload are the steps while the controllers run, each followed by Pause.
	Workload []scenario.Step
	// Expect are expectations that must hold at the end of every run. There may be none.
	Expect []scenario.Step
	// Invariants must hold after every write.
	Invariants []Invariant
	// Ignore lists what may differ from the reference: RESOURCE/NAME for objects or
	// RESOURCE/NAME:PATH for a field of them, such as "configmaps/report-*:data.time". A resource
	// has its group as in pods or deployments.apps. A path has [] or an index after a list, which
	// both are for all elements: "pods/*:spec.containers[].image". "*" matches any text in each
	// part.
	Ignore []string

	// RealTime runs everything in real time, on servers that can be reached over the network. The
	// controllers may then be functions that start other processes. They must not be called in
	// virtual time.
	RealTime bool
	// Pause is the time after each step of Workload. It defaults to 10 s, in real time to 2 s;
	// negative is none.
	Pause time.Duration
	// Settle is how long nothing may be written at the end of a run. It defaults to 30 s, in real
	// time to 3 s.
	Settle time.Duration
	// Recovery is how long the controllers may take at the end of a perturbed run to reach the
	// state of the reference. It defaults to 10 minutes, in real time to 20 s.
	Recovery time.Duration

	// Budget is the number of perturbed runs at most. 0 is for all.
	Budget int
	// FindOne ends the search when something was found that its file reproduces, or that has no file.
	FindOne bool
	// Seed determines the order of the perturbations, and uids and generated names.
	Seed uint64
	// Full adds the perturbations that usually cannot matter.
	Full bool
	// Parallel is the number of runs at a time. It defaults to GOMAXPROCS.
	Parallel int
	// Known has the reasons why findings are accepted, by their names. Run fails if one of them is
	// not found.
	Known map[string]string
	// Dir, if not "", is a directory to which each finding is written: a scenario for RunDir and
	// the page of its timeline.
	Dir string
	// Resume, if not "", is a file with the perturbations that have been run. They are not run
	// again. A run whose process ended is a finding, because an unhandled panic of a controller
	// ends the process. The file is removed when all have been run.
	Resume string
	// Progress, if not nil, receives a line for each finding, and every second one about the
	// progress.
	Progress io.Writer
}

// Invariant is a condition that holds after every write.
type Invariant struct {
	Name string
	// Check returns an error if the state violates the invariant. It must not change the state.
	Check func(s *State) error
}

// withDefaults returns the configuration with defaults for the fields that are zero.
func (c Config) withDefaults() (Config, error) {
	if len(c.Controllers) == 0 {
		return c, errors.New("perturb: Config.Controllers is empty")
	}
	pause, settle, recovery := 10*time.Second, 30*time.Second, 10*time.Minute
	if c.RealTime {
		pause, settle, recovery = 2*time.Second, 3*time.Second, 20*time.Second
	}
	if c.Pause == 0 {
		c.Pause = pause
	}
	if c.Settle <= 0 {
		c.Settle = settle
	}
	if c.Recovery <= 0 {
		c.Recovery = recovery
	}
	if c.Parallel <= 0 {
		c.Parallel = runtime.GOMAXPROCS(0)
	}
	return c, nil
}

// controllerNames returns the names of the controllers in the order in which they are run.
func (c *Config) controllerNames() []string { return slices.Sorted(maps.Keys(c.Controllers)) }

// tail is the time at the end of a run in which requests are counted.
func (c *Config) tail() time.Duration {
	const most = 20 * time.Second
	return min(most, c.Settle)
}

// restartAfter is the time after which a controller that has returned an error is run again.
const restartAfter = 10 * time.Second
