package perturb

import (
	"fmt"
	"path"
	"strings"

	"example.com/fakeapi/scenario"
)

// printSteps returns the text of a scenario. Files with the same name and other contents get other
// names, because a workload may apply several states of an object from files of one name.
func printSteps(steps []scenario.Step) (string, error) {
	var lines, files strings.Builder
	contents := map[string]string{}
	for _, step := range steps {
		text, err := scenario.Print(step)
		if err != nil {
			return "", err
		}
		line, rest, _ := strings.Cut(text, "\n")
		for rest != "" {
			header, content, _ := strings.Cut(rest, "\n")
			end := strings.Index("\n"+content, "\n-- ")
			if end < 0 {
				end = len(content)
			}
			rest, content = content[end:], content[:end]
			name := strings.TrimSuffix(strings.TrimPrefix(header, "-- "), " --")
			unique := name
			for n := 2; contents[unique] != "" && contents[unique] != content; n++ {
				extension := path.Ext(name)
				unique = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(name, extension), n, extension)
			}
			line = strings.Replace(line+" ", " "+name+" ", " "+unique+" ", 1)
			if contents[unique] == "" {
				contents[unique] = content
				files.WriteString("-- " + unique + " --\n" + content)
			}
		}
		lines.WriteString(strings.TrimSpace(line) + "\n")
	}
	text := lines.String() + files.String()
	if _, err := scenario.Parse(text); err != nil {
		return "", fmt.Errorf("perturb: the steps cannot be printed: %w", err)
	}
	return text, nil
}
