package perturb

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	fakeapi "example.com/fakeapi/fake"
)

// Finding is what an oracle has found, with the smallest perturbation that shows it.
type Finding struct {
	// Name identifies the finding in Config.Known: the oracle and what it is about.
	Name string
	// Perturbation is what was done, and Imitates what that is in production. Catalogue has the
	// cases in faults/CATALOGUE.md.
	Perturbation, Imitates string
	Catalogue              []int
	// Detail says what was expected and seen.
	Detail string
	// Others are the other perturbations that show the same.
	Others []string
	// File is the scenario that fails because of the bug, or "" if steps cannot express it.
	File string
	// Reproduced is true if the file failed when it was run, and passed without the perturbation.
	Reproduced bool
	// Known is the reason in Config.Known, or "".
	Known string

	page []byte
}

// String returns the finding as text.
func (f *Finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "perturb: %s\n", f.Name)
	if f.Known != "" {
		fmt.Fprintf(&b, "known: %s\n", f.Known)
	}
	fmt.Fprintf(&b, "perturbation: %s\n", f.Perturbation)
	if f.Imitates != "" {
		fmt.Fprintf(&b, "which imitates: %s (catalogue %s)\n", f.Imitates, strings.Trim(strings.ReplaceAll(fmt.Sprint(f.Catalogue), " ", ", "), "[]"))
	}
	fmt.Fprintf(&b, "%s\n", f.Detail)
	if n := len(f.Others); n > 0 {
		fmt.Fprintf(&b, "also found at %d other places, such as: %s\n", n, f.Others[0])
	}
	switch {
	case f.File == "":
		b.WriteString("No step can express it, so there is no file.\n")
	case !f.Reproduced:
		b.WriteString("The file does not reproduce it in every run:\n")
	}
	if f.File != "" {
		b.WriteString("\n" + f.File)
	}
	return b.String()
}

// finding returns the finding of a group.
func (s *search) finding(g *group) *Finding {
	f := &Finding{Name: g.name(), Detail: g.text, Others: slices.Sorted(slices.Values(g.others))}
	f.Perturbation = "none"
	if g.p != nil {
		f.Perturbation = id(g.p)
		k := kindNamed(g.p.kind())
		f.Imitates, f.Catalogue = k.Imitates, k.Catalogue
	}
	if s.config.Dir != "" {
		p := play{config: s.config, normalizer: s.r.normalizer, seed: s.config.Seed, perturbed: g.p, reference: s.r, timeline: true}
		p.afterRun = func(server *fakeapi.Server) {
			var page bytes.Buffer
			if server.Timeline().WriteHTML(&page, f.Name) == nil { // a Buffer has no errors
				f.page = page.Bytes()
			}
		}
		if g.got != nil {
			p.run(s.ctx)
		}
	}
	if len(g.expect) == 0 {
		return f
	}
	script := s.newScript(g.p, g.expect)
	if f.Reproduced = g.isReproduced || s.reproduces(g, script); f.Reproduced && !s.config.RealTime {
		script = s.shorten(g, script)
	}
	text, err := script.print(true)
	if err != nil {
		f.Detail += "\n" + err.Error()
		return f
	}
	f.File = s.comment(f) + text
	return f
}

// comment returns the comment at the beginning of a file.
func (s *search) comment(f *Finding) string {
	text := "# " + f.Name + "\n# Perturbation: " + f.Perturbation + "\n"
	detail, _, _ := strings.Cut(f.Detail, "\n")
	return text + "# " + detail + "\n"
}

var notInFileNames = regexp.MustCompile(`[^a-zA-Z0-9.]+`)

// fileName returns the name of the files of a finding, without extension, and adds it to used. A
// name that is cut or used ends with a hash of the whole, because findings can differ in the end of
// their names only, or in characters that file names do not have.
func (f *Finding) fileName(used map[string]bool) string {
	const most = 80
	name := strings.Trim(notInFileNames.ReplaceAllString(f.Name, "-"), "-")
	if len(name) > most || used[name] {
		hash := fnv.New32a()
		_, _ = hash.Write([]byte(f.Name)) // never fails
		name = fmt.Sprintf("%s-%08x", name[:min(len(name), most-9)], hash.Sum32())
	}
	used[name] = true
	return name
}

// write writes the files of a finding to a directory, if there is one. used has the names of the
// files of other findings.
func (f *Finding) write(dir string, used map[string]bool) error {
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("perturb: %w", err)
	}
	name := f.fileName(used)
	for extension, data := range map[string][]byte{".txtar": []byte(f.File), ".html": f.page, ".txt": []byte(f.String())} {
		if len(data) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name+extension), data, 0o666); err != nil {
			return fmt.Errorf("perturb: %w", err)
		}
	}
	return nil
}
