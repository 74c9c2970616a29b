package scenario

import "strings"

// archive is a txtar archive: text, and then files, each behind a line
// "-- NAME --". Every text is one; there are no syntax errors.
type archive struct {
	comment string
	files   []file
}

// file is one file of an archive. Its data ends with a newline unless it is
// empty.
type file struct {
	name, data string
	// line is where the name stands, counted from 1; 0 for a file that was not
	// parsed.
	line int
}

func parseArchive(text string) archive {
	var a archive
	into, start := &a.comment, 0 // where the text from start on belongs
	line, at := 0, 0
	for l := range strings.Lines(text) {
		line++
		if name, ok := parseMarker(l); ok {
			*into = withFinalNewline(text[start:at])
			a.files = append(a.files, file{name: name, line: line})
			into, start = &a.files[len(a.files)-1].data, at+len(l)
		}
		at += len(l)
	}
	*into = withFinalNewline(text[start:])
	return a
}

// parseMarker reads the line in front of a file.
func parseMarker(line string) (name string, ok bool) {
	const before, after = "-- ", " --"
	line = strings.TrimRight(line, "\r\n")
	if len(line) < len(before)+len(after) || !strings.HasPrefix(line, before) || !strings.HasSuffix(line, after) {
		return "", false
	}
	name = strings.TrimSpace(line[len(before) : len(line)-len(after)])
	return name, name != ""
}

// String prints the archive.
func (a archive) String() string {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, f := range a.files {
		b.WriteString("-- " + f.name + " --\n" + f.data)
	}
	return b.String()
}

// withFinalNewline ends text with a newline, as the lines of an archive do.
func withFinalNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
