package arch

import (
	"fmt"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// mentioned finds what the comment of a package says of its own names: links, TYPE.METHOD,
// and the options of a server.
var mentioned = regexp.MustCompile(`\[\*?([A-Z]\w*[a-z]\w*(?:\.\w+)?)\]|\b([A-Z]\w*\.[A-Z]\w+)\b|(?:^|[^.\w])(With(?:out)?[A-Z]\w+)\b`)

// strangers complains about names in the comment of a package that the package does not
// have. TYPE.METHOD is somebody else's if the package has no such type.
func strangers(dir, text string, p *types.Package) (complaints []string) {
	for _, match := range mentioned.FindAllStringSubmatch(text, -1) {
		of, member, _ := strings.Cut(match[1]+match[2]+match[3], ".")
		object := p.Scope().Lookup(of)
		if object == nil && match[2] != "" {
			continue
		}
		if object != nil && member != "" {
			object, _, _ = types.LookupFieldOrMethod(object.Type(), true, p, member)
		}
		if object == nil {
			complaints = append(complaints, fmt.Sprintf("the comment of package %s names %s, which it does not have", dir, match[1]+match[2]+match[3]))
		}
	}
	return complaints
}

func TestManualsNameWhatThereIs(t *testing.T) {
	all := theTree(t)
	from := exported(all.files, thePackages(t))
	for _, dir := range public {
		p, err := from.Import(module + "/" + dir)
		require.NoError(t, err)
		for _, s := range all.sources {
			if s.dir() == dir && !s.test && s.syntax.Doc != nil {
				report(t, strangers(dir, s.syntax.Doc.Text(), p))
			}
		}
	}
}

// headings are those of the comment of a package, and its first sentence.
func headings(text string) (found []string, first string) {
	for _, match := range regexp.MustCompile(`(?m)^# (.+)$`).FindAllStringSubmatch(text, -1) {
		found = append(found, match[1])
	}
	first, _, _ = strings.Cut(strings.Join(strings.Fields(text), " "), ". ")
	return found, first
}

// The manual of a public package begins with what it is, shows the first steps, and says
// what it is not for.
func TestManualsAreWhole(t *testing.T) {
	all := theTree(t)
	for _, dir := range public {
		i := slices.IndexFunc(all.sources, func(s source) bool { return s.path == path.Join(dir, "doc.go") })
		require.GreaterOrEqual(t, i, 0, "%s has no doc.go", dir)
		text := all.sources[i].syntax.Doc.Text()
		found, first := headings(text)
		require.Contains(t, first, "Package ", dir)
		for _, want := range []string{"When to use it", "First steps", "Errors", "Limits"} {
			require.Contains(t, found, want, "the manual of %s", dir)
		}
		_, steps, _ := strings.Cut(text, "# First steps")
		require.Regexp(t, `^\n\n(?:[^#]*\n)?\n?\t`, steps, "the first steps with %s are shown as code", dir)
	}
}

func TestManualRules(t *testing.T) {
	p := types.NewPackage("p", "p")
	box := types.NewNamed(types.NewTypeName(0, p, "Box", nil), types.NewStruct([]*types.Var{types.NewField(0, p, "Lid", types.Typ[types.Int], false)}, nil), nil)
	p.Scope().Insert(box.Obj())
	p.Scope().Insert(types.NewFunc(0, p, "WithBox", types.NewSignatureType(nil, nil, nil, nil, nil, false)))
	for text, bad := range map[string]int{
		"[Box] and [*Box], Box.Lid, [Box.Lid], WithBox": 0,
		"[Bag], Box.Bottom, [Box.Bottom], WithoutBox":   4,
		"http.Client, Other.Thing, [ROLE=]NAME, [TEXT]": 0,
	} {
		require.Len(t, strangers("p", text, p), bad, text)
	}
	found, first := headings("Package p is it. More.\n\n# One\n\ntext # no\n\n# Two more\n")
	require.Equal(t, []string{"One", "Two more"}, found)
	require.Equal(t, "Package p is it", first)
}
