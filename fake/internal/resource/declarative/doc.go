// Package declarative has a package for each API group whose Go types have validation tags that are
// in force (KEP-5073). validation-gen writes them from the tags of k8s.io/api. After an update of
// k8s.io/api run go generate here.
package declarative

//go:generate go tool -modfile=../../../../internal/dev/tools/go.mod validation-gen --output-file zz_generated.validations.go --go-header-file /dev/null --readonly-pkg k8s.io/apimachinery/pkg/api/resource --readonly-pkg k8s.io/apimachinery/pkg/runtime --readonly-pkg k8s.io/apimachinery/pkg/types --readonly-pkg k8s.io/apimachinery/pkg/util/intstr --readonly-pkg time ./...
