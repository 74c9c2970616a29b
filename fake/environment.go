package fakeapi

import (
	"fmt"
	"os"
	"strconv"
	"time"

	"example.com/fakeapi/faults"
)

// Names of the environment variables of Start.
const (
	faultsEnv          = "FAKEAPI_FAULTS"
	seedEnv            = "FAKEAPI_SEED"
	watchCacheDelayEnv = "FAKEAPI_WATCH_CACHE_DELAY"
)

// environmentOptions returns the options of the environment variables for servers of tests. An
// invalid value is an error that names the variable.
func environmentOptions() (opts []Option, err error) {
	for _, variable := range []struct {
		name   string
		option func(text string) (Option, error)
	}{
		{faultsEnv, func(text string) (Option, error) {
			rules, err := faults.ReadRules(text, "")
			return func(o *options) error { o.optionalRules = rules; return nil }, err
		}},
		{seedEnv, func(text string) (Option, error) {
			seed, err := strconv.ParseUint(text, 10, 64)
			return WithSeed(seed), err
		}},
		{watchCacheDelayEnv, func(text string) (Option, error) {
			d, err := time.ParseDuration(text)
			return WithWatchCacheDelay(d), err
		}},
	} {
		text := os.Getenv(variable.name)
		if text == "" {
			continue
		}
		opt, err := variable.option(text)
		if err != nil {
			return nil, fmt.Errorf("fakeapi: %s: %w", variable.name, err)
		}
		opts = append(opts, opt)
	}
	return opts, nil
}

// addRules adds the rules of the options, and then those of the environment.
func (s *Server) addRules() error {
	if _, err := s.faults.Add(s.opts.rules...); err != nil {
		return err
	}
	_, err := s.faults.AddOptional(s.opts.optionalRules...)
	return err
}
