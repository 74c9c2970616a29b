package differential

import (
	"fmt"
	"regexp"

	"sigs.k8s.io/yaml"
)

// ListedDifference is a class of differences that is expected.
type ListedDifference struct {
	// Pattern matches the signature of the class.
	Pattern *regexp.Regexp
	// Reason says why the servers differ.
	Reason string
}

// Listed returns the differences between kube-apiserver v1.37 on the left and a server of package
// fakeapi on the right that are known and intended.
func Listed() []ListedDifference {
	return []ListedDifference{
		{
			regexp.MustCompile(`^PATCH .*/customresourcedefinitions/.* body\.metadata\.generation: `),
			"a default such as 2.0 differs from the stored 2 in kube-apiserver; fakeapi compares their values",
		},
		{
			regexp.MustCompile(`/customresourcedefinitions\b.* body\.details\.causes\[\]\.message: Invalid value: "…": .*in body must be of type `),
			"kube-apiserver says that a default such as 2.0 is a number, fakeapi that it is an integer",
		},
		{
			regexp.MustCompile(`/customresourcedefinitions\b.*\.items: nothing \| null`),
			"fakeapi stores null for items that are neither a schema nor a list, which kube-apiserver removes",
		},
		{
			regexp.MustCompile(`/customresourcedefinitions\b.*\.default\S*: number \| number`),
			"fakeapi stores -0 for a default of -0.0, kube-apiserver 0",
		},
		{
			regexp.MustCompile(`^GET .* body\.items\[\]\.(apiVersion|kind): string \| nothing`),
			"kube-apiserver returns apiVersion and kind with an item of a built-in type if it reads one object exactly for a list",
		},
		{
			regexp.MustCompile(` body\..*metadata\.selfLink: string \| nothing`),
			"the storage of kube-apiserver clears the deprecated selfLink, which the dry run of an update does not reach; fakeapi clears it before",
		},
	}
}

// ParseListed parses a list of differences: YAML or JSON, a list of objects with the fields
// pattern, a regular expression that matches signatures, and reason.
func ParseListed(text []byte) ([]ListedDifference, error) {
	var items []struct {
		Pattern string `json:"pattern"`
		Reason  string `json:"reason"`
	}
	if err := yaml.UnmarshalStrict(text, &items); err != nil {
		return nil, err
	}
	var all []ListedDifference
	for i, one := range items {
		pattern, err := regexp.Compile(one.Pattern)
		switch {
		case err != nil:
			return nil, fmt.Errorf("item %d: %w", i, err)
		case one.Pattern == "" || one.Reason == "":
			return nil, fmt.Errorf("item %d: a pattern and a reason are required", i)
		}
		all = append(all, ListedDifference{pattern, one.Reason})
	}
	return all, nil
}

// reasonOf returns the reason of the first listed difference that matches, or "".
func reasonOf(all []ListedDifference, signature string) string {
	for _, one := range all {
		if one.Pattern.MatchString(signature) {
			return one.Reason
		}
	}
	return ""
}
