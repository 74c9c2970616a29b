package perturb

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
)

// progressFile is the file of Config.Resume. It has a line for the begin and the end of each run.
type progressFile struct {
	path string
	// begun and done are the perturbations of earlier processes, by id.
	begun, done map[string]bool

	mu   sync.Mutex // guards file
	file *os.File   // nil without Config.Resume
}

// The words before the id of a perturbation. A run with violations is not done, so that it is run
// again.
const (
	begunLine = "begin "
	doneLine  = "done "
	foundLine = "found "
)

// loadProgress reads the file at path, if it exists, and opens it for more.
func loadProgress(path string) (*progressFile, error) {
	p := &progressFile{path: path, begun: map[string]bool{}, done: map[string]bool{}}
	if path == "" {
		return p, nil
	}
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("perturb: Config.Resume: %w", err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(data)))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), begunLine); ok {
			p.begun[name] = true
		} else if name, ok := strings.CutPrefix(lines.Text(), doneLine); ok {
			p.done[name] = true
		} else if name, ok := strings.CutPrefix(lines.Text(), foundLine); ok {
			delete(p.begun, name)
		}
	}
	if p.file, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		return nil, fmt.Errorf("perturb: Config.Resume: %w", err)
	}
	return p, nil
}

// isDone reports whether a perturbation needs no run: it was run before, or ended the process.
func (p *progressFile) isDone(id string) bool { return p.done[id] || p.begun[id] }

// interrupted returns those of the perturbations whose runs have not ended.
func (p *progressFile) interrupted(all []perturbation) (found []perturbation) {
	for _, each := range all {
		if p.begun[id(each)] && !p.done[id(each)] {
			found = append(found, each)
		}
	}
	return found
}

func (p *progressFile) begin(id string) error { return p.line(begunLine + id) }

func (p *progressFile) end(id string, found []violation) error {
	if len(found) > 0 {
		return p.line(foundLine + id)
	}
	return p.line(doneLine + id)
}

func (p *progressFile) line(text string) error {
	if p.file == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.file.WriteString(text + "\n"); err != nil {
		return fmt.Errorf("perturb: Config.Resume: %w", err)
	}
	return nil
}

// close closes the file.
func (p *progressFile) close() error {
	if p.file == nil {
		return nil
	}
	if err := p.file.Close(); err != nil {
		return fmt.Errorf("perturb: Config.Resume: %w", err)
	}
	return nil
}

// remove removes the file, because all perturbations have been run.
func (p *progressFile) remove() error {
	if p.file == nil {
		return nil
	}
	if err := os.Remove(p.path); err != nil {
		return fmt.Errorf("perturb: Config.Resume: %w", err)
	}
	return nil
}
