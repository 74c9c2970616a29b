package scenario

import "strings"

// archive is a txtar archive: text, and then files, each after a line "-- NAME --". Every text is
// an archive.
type archive struct {
	comment string
	files   []file
}

// file is a file of an archive. Its data ends with a newline unless it is empty.
type file struct {
	name, data string
	// line is the line number of the marker, starting at 1, or 0 if the file was not parsed.
	line int
}

func parseArchive(text string) archive {
	var a archive
	into, start := &a.comment, 0 // destination of the text from start on
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

// parseMarker parses the line before a file.
func parseMarker(line string) (name string, ok bool) {
	const before, after = "-- ", " --"
	line = strings.TrimRight(line, "\r\n")
	if len(line) < len(before)+len(after) || !strings.HasPrefix(line, before) || !strings.HasSuffix(line, after) {
		return "", false
	}
	name = strings.TrimSpace(line[len(before) : len(line)-len(after)])
	return name, name != ""
}

// String returns the text of the archive.
func (a archive) String() string {
	var b strings.Builder
	b.WriteString(a.comment)
	for _, f := range a.files {
		b.WriteString("-- " + f.name + " --\n" + f.data)
	}
	return b.String()
}

// withFinalNewline returns the text with a newline at the end unless it is empty.
func withFinalNewline(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
