package kubeapiserver

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	fakeapi "example.com/fakeapi/fake"
)

// Options returns the options of the server that the flags ask for. It reads the files that they name,
// relative to dir. Each note is a line for the log, about what has no effect.
func (f *Flags) Options(dir string) (opts []fakeapi.Option, notes []string, err error) {
	files := directory(dir)
	opts = append(opts, fakeapi.WithTLS(), f.limits.option(), fakeapi.WithWatchTimeout(time.Duration(f.limits.minRequestTimeout)*time.Second))
	for _, add := range []func(directory) ([]fakeapi.Option, error){f.servingOptions, f.authenticationOptions, f.authorizationOptions, f.serviceOptions, f.admissionOptions} {
		added, err := add(files)
		if err != nil {
			return nil, nil, err
		}
		opts = append(opts, added...)
	}
	if names := f.withoutEffect(); len(names) > 0 {
		notes = append(notes, "These flags have no effect here: "+strings.Join(names, ", "))
	}
	return opts, notes, nil
}

// directory is the one that names of files are relative to.
type directory string

func (d directory) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(string(d), name)
}

// maxFileBytes is the maximum size of a file that a flag names.
const maxFileBytes = 16 << 20

// read returns the content of a file.
func (d directory) read(name string) ([]byte, error) {
	file, err := os.Open(d.path(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(data) > maxFileBytes {
		err = fmt.Errorf("%s is larger than %d bytes", name, maxFileBytes)
	}
	return data, err
}

// option returns the limits. In kube-apiserver 0 is no limit.
func (l *limitFlags) option() fakeapi.Option {
	limits := fakeapi.Limits{
		MaxRequestsInFlight: l.maxRequestsInFlight, MaxMutatingRequestsInFlight: l.maxMutatingRequestsInFlight,
		HistoryAge: l.compactionInterval,
	}
	if limits.HistoryAge == 0 {
		limits.HistoryAge = -1
	}
	return fakeapi.WithLimits(limits)
}

func (f *Flags) authenticationOptions(files directory) (opts []fakeapi.Option, err error) {
	a := &f.authentication
	if a.clientCAFile == "" {
		opts = append(opts, fakeapi.WithClientCA())
	} else {
		authorities, err := files.read(a.clientCAFile)
		if err != nil {
			return nil, err
		}
		opts = append(opts, fakeapi.WithClientCA(authorities))
	}
	if a.tokenFile != "" {
		tokens, err := readTokens(files, a.tokenFile)
		if err != nil {
			return nil, err
		}
		if len(tokens) > 0 {
			opts = append(opts, fakeapi.WithTokens(tokens...))
		}
	}
	return opts, nil
}

// readTokens reads the file of --token-auth-file: TOKEN,USER,UID,"GROUP,GROUP".
func readTokens(files directory, name string) (tokens []fakeapi.Token, err error) {
	data, err := files.read(name)
	if err != nil {
		return nil, err
	}
	r := csv.NewReader(strings.NewReader(string(data)))
	r.FieldsPerRecord = -1
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return tokens, nil
		}
		if err != nil {
			return nil, err
		}
		if len(record) < 3 {
			return nil, fmt.Errorf("token file '%s' must have at least 3 columns (token, user name, user uid), found %d", name, len(record))
		}
		if record[0] == "" {
			continue
		}
		token := fakeapi.Token{Value: record[0], User: record[1]}
		if len(record) >= 4 {
			token.Groups = strings.Split(record[3], ",")
		}
		tokens = append(tokens, token)
	}
}

func (f *Flags) authorizationOptions(directory) ([]fakeapi.Option, error) {
	modes := make([]fakeapi.AuthorizationMode, len(f.authorization.modes))
	for i, mode := range f.authorization.modes {
		modes[i] = fakeapi.AuthorizationMode(mode)
	}
	if len(modes) == 0 {
		modes = append(modes, fakeapi.ModeAlwaysAllow)
	}
	return []fakeapi.Option{fakeapi.WithAuthorizationModes(modes...)}, nil
}

func (f *Flags) serviceOptions(directory) ([]fakeapi.Option, error) {
	opts := []fakeapi.Option{fakeapi.WithServiceNodePortRange(f.services.nodePortRange.String())}
	if f.services.clusterIPRange != "" {
		opts = append(opts, fakeapi.WithServiceClusterIPRange(strings.Split(f.services.clusterIPRange, ",")...))
	}
	return opts, nil
}

func (f *Flags) admissionOptions(directory) (opts []fakeapi.Option, err error) {
	if len(f.admission.enabled) > 0 {
		opts = append(opts, fakeapi.WithAdmissionPlugins(f.admission.enabled...))
	}
	return append(opts, fakeapi.WithoutAdmissionPlugins(f.admission.disabled...)), nil
}
