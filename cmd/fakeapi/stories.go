package main

import (
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

// story is a scenario that is to be played, with its clients.
type story struct {
	name, text string
	config     scenario.Config
	cast       []string // "ROLE: CLIENT" for each of config's clients
	// page is what its page is called, which no other story's is.
	page string
	// excuse is what the catalogue says of a client that is known to fall; "" for others.
	excuse string
}

func (s story) title() string {
	if len(s.cast) == 0 {
		return s.name
	}
	return s.name + " (" + strings.Join(s.cast, ", ") + ")"
}

// extension is how the files of scenarios end.
const extension = ".txtar"

// openStories reads what the words of a command line name: cases of the catalogue, files,
// directories with all scenarios below them, and stdin.
func openStories(words []string, chosen choice) (stories []story, err error) {
	for _, word := range words {
		found, err := openWord(word, chosen)
		if err != nil {
			return nil, err
		}
		stories = append(stories, found...)
	}
	namePages(stories)
	return stories, nil
}

// namePages names pages as the files are called, wherever these are; a number goes behind
// a name that is taken.
func namePages(stories []story) {
	taken := map[string]bool{}
	for i := range stories {
		base := strings.TrimSuffix(filepath.Base(stories[i].name), extension)
		page := base
		for n := 2; taken[page]; n++ {
			page = fmt.Sprintf("%s-%d", base, n)
		}
		taken[page] = true
		stories[i].page = page
	}
}

func openWord(word string, chosen choice) ([]story, error) {
	if cases := findCases(word); cases != nil {
		var stories []story
		for _, c := range cases {
			client, err := chosen.forCase(c)
			if err != nil {
				return nil, err
			}
			stories = append(stories, storyOf(c, client))
		}
		return stories, nil
	}
	if word == "-" {
		text, err := io.ReadAll(os.Stdin)
		return []story{newStory("stdin", string(text), chosen)}, err
	}
	paths, err := filesBelow(word)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no such file, and no case of the catalogue; see fakeapi run --list", word)
	} else if err != nil {
		return nil, err
	}
	var stories []story
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		stories = append(stories, newStory(path, string(text), chosen))
	}
	return stories, nil
}

// findCases finds the cases with a number or a name.
func findCases(word string) (found []scenario.Case) {
	for _, c := range scenario.Catalogue() {
		if n, err := strconv.Atoi(word); c.Name == word || err == nil && c.Number == n {
			found = append(found, c)
		}
	}
	return found
}

// filesBelow is a file, or all scenarios in a directory.
func filesBelow(path string) (paths []string, err error) {
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
		err = fmt.Errorf("%s: there is no file that ends in %s", path, extension)
	}
	return paths, err
}

// newStory is for a file. Each role in it is played by the client chosen for that, or
// else by the first that there is.
func newStory(name, text string, chosen choice) story {
	s := story{name: name, text: text, config: scenario.Config{Clients: map[string]scenario.Client{}}}
	for _, role := range roles() {
		client := chosen.forRole(role)
		played := scenario.Case{Role: role, Text: text}.Config(client.Client).Clients
		if len(played) > 0 {
			s.cast = append(s.cast, role+": "+client.Name)
			maps.Copy(s.config.Clients, played)
		}
	}
	return s
}

// storyOf is for a case of the catalogue.
func storyOf(c scenario.Case, client clients.Implementation) story {
	s := story{
		name:   fmt.Sprintf("%03d-%s%s", c.Number, c.Name, extension),
		text:   c.Text,
		config: c.Config(client.Client),
		cast:   []string{c.Role + ": " + client.Name},
	}
	if why, falls := c.Fails[client.Name]; falls {
		s.excuse = fmt.Sprintf(" (%s is known to fall: %s)", client.Name, why)
	}
	return s
}

// roles are all that there are clients for.
func roles() (all []string) {
	for _, client := range clients.All() {
		if !slices.Contains(all, client.Role) {
			all = append(all, client.Role)
		}
	}
	return all
}
