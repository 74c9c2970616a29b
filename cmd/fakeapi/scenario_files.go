package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// scenarioRun is a scenario to run, with its clients.
type scenarioRun struct {
	name, text string
	config     scenario.Config
	clients    []string // "ROLE: CLIENT" for each client of config
	// page is the file name of its page. It is unique.
	page string
	// knownFailure is the reason if the catalogue expects the client to fail, else "".
	knownFailure string
}

func (s scenarioRun) title() string {
	if len(s.clients) == 0 {
		return s.name
	}
	return s.name + " (" + strings.Join(s.clients, ", ") + ")"
}

// extension is the extension of scenario files.
const extension = ".txtar"

// openScenarios opens the scenarios that arguments name: cases of the catalogue, files,
// directories, and stdin.
func openScenarios(ctx context.Context, words []string, chosen clientSelection) (runs []scenarioRun, err error) {
	for _, word := range words {
		found, err := openArgument(ctx, word, chosen)
		if err != nil {
			return nil, err
		}
		runs = append(runs, found...)
	}
	assignPageNames(runs)
	return runs, nil
}

// assignPageNames names the pages after the files. A name that is used already gets a number.
func assignPageNames(runs []scenarioRun) {
	taken := map[string]bool{}
	for i := range runs {
		base := strings.TrimSuffix(filepath.Base(runs[i].name), extension)
		page := base
		for n := 2; taken[page]; n++ {
			page = fmt.Sprintf("%s-%d", base, n)
		}
		taken[page] = true
		runs[i].page = page
	}
}

func openArgument(ctx context.Context, word string, chosen clientSelection) ([]scenarioRun, error) {
	if cases := findCases(word); cases != nil {
		var runs []scenarioRun
		for _, c := range cases {
			client, err := chosen.forCase(c)
			if err != nil {
				return nil, err
			}
			runs = append(runs, catalogueRun(c, client))
		}
		return runs, nil
	}
	if word == "-" {
		text, err := interruptible(ctx, func() ([]byte, error) { return io.ReadAll(os.Stdin) })
		return []scenarioRun{newScenarioRun("stdin", string(text), chosen)}, err
	}
	paths, err := scenarioFiles(word)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: neither a file nor a case of the catalogue; see fakeapi run --list", word)
	} else if err != nil {
		return nil, err
	}
	var runs []scenarioRun
	for _, path := range paths {
		text, err := readFile(ctx, path)
		if errors.Is(err, errInterrupted) {
			return nil, fmt.Errorf("%w: %s was not read", err, path)
		}
		if err != nil {
			return nil, err
		}
		runs = append(runs, newScenarioRun(path, string(text), chosen))
	}
	return runs, nil
}

// findCases returns the cases with a number or a name.
func findCases(word string) (found []scenario.Case) {
	for _, c := range scenario.Catalogue() {
		if n, err := strconv.Atoi(word); c.Name == word || err == nil && c.Number == n {
			found = append(found, c)
		}
	}
	return found
}

// scenarioFiles returns a file, or all scenarios below a directory.
func scenarioFiles(path string) (paths []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	err = filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(name) == extension {
			paths = append(paths, name)
		}
		return err
	})
	if err == nil && paths == nil {
		err = fmt.Errorf("%s: no file with the extension %s", path, extension)
	}
	return paths, err
}

// newScenarioRun returns the run of a file. Each role in it is played by the selected client, or
// else by the first client of the role.
func newScenarioRun(name, text string, chosen clientSelection) scenarioRun {
	s := scenarioRun{name: name, text: text, config: scenario.Config{Clients: map[string]scenario.Client{}}}
	for _, role := range roleNames() {
		client := chosen.forRole(role)
		played := scenario.Case{Role: role, Text: text}.Config(client.Client).Clients
		if len(played) > 0 {
			s.clients = append(s.clients, role+": "+client.Name)
			maps.Copy(s.config.Clients, played)
		}
	}
	return s
}

// catalogueRun returns the run of a case of the catalogue.
func catalogueRun(c scenario.Case, client clients.Implementation) scenarioRun {
	s := scenarioRun{
		name:    fmt.Sprintf("%03d-%s%s", c.Number, c.Name, extension),
		text:    c.Text,
		config:  c.Config(client.Client),
		clients: []string{c.Role + ": " + client.Name},
	}
	if why, fails := c.Fails[client.Name]; fails {
		s.knownFailure = fmt.Sprintf(" (%s is known to fail: %s)", client.Name, why)
	}
	return s
}

// roleNames returns the roles that have clients.
func roleNames() (all []string) {
	for _, client := range clients.All() {
		if !slices.Contains(all, client.Role) {
			all = append(all, client.Role)
		}
	}
	return all
}
