package admissionregistration

import (
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissioncel "k8s.io/apiserver/pkg/admission/plugin/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"example.com/fakeapi/fake/internal/resource/validate"
)

const maxMatchConditions = 64

// plainCompiler returns the compiler of expressions without variables. It is made when the first
// expression is validated.
var plainCompiler = sync.OnceValue(func() admissioncel.Compiler {
	return admissioncel.NewCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
})

// newCompiler returns a compiler of expressions with variables, for one policy.
func newCompiler() (*admissioncel.CompositedCompiler, error) {
	return admissioncel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
}

// expression is a CEL expression with the types that its value may have. name is that of a
// variable.
type expression struct {
	name, text string
	types      []*cel.Type
}

func (e *expression) GetName() string          { return e.name }
func (e *expression) GetExpression() string    { return e.text }
func (e *expression) ReturnTypes() []*cel.Type { return e.types }

// validateExpression validates that an expression compiles. value is the expression as it is in
// the object.
func validateExpression(c admissioncel.Compiler, e *expression, value string, variables admissioncel.OptionalVariableDeclarations, p *validate.Path) field.ErrorList {
	return compilationErrors(c.CompileCELExpression(e, variables, environment.NewExpressions).Error, value, p)
}

// compilationErrors returns the errors for a compilation that may have failed.
func compilationErrors(err *apiservercel.Error, value string, p *validate.Path) field.ErrorList {
	switch {
	case err == nil:
		return nil
	case err.Type == apiservercel.ErrorTypeInvalid:
		return field.ErrorList{p.Invalid(value, err.Detail)}
	case err.Type == apiservercel.ErrorTypeRequired:
		return field.ErrorList{p.Required(err.Detail)}
	}
	return field.ErrorList{field.InternalError(p.Field(), err)}
}

// validateMatchConditions validates the match conditions of a webhook or a policy.
func validateMatchConditions(conditions []admissionv1.MatchCondition, hasParams bool, p *validate.Path) (errs field.ErrorList) {
	if len(conditions) > maxMatchConditions {
		errs = append(errs, p.TooMany(len(conditions), maxMatchConditions))
	}
	variables := admissioncel.OptionalVariableDeclarations{HasParams: hasParams, HasAuthorizer: true}
	seen := make(map[string]bool)
	for i, c := range conditions {
		at := p.Index(i)
		if text := strings.TrimSpace(c.Expression); text == "" {
			errs = append(errs, at.Child("expression").Required(""))
		} else {
			e := &expression{text: text, types: []*cel.Type{cel.BoolType}}
			errs = append(errs, validateExpression(plainCompiler(), e, text, variables, at.Child("expression"))...)
		}
		if c.Name == "" {
			errs = append(errs, at.Child("name").Required(""))
			continue
		}
		errs = append(errs, validate.LabelName(c.Name, at.Child("name"))...)
		if seen[c.Name] {
			errs = append(errs, at.Child("name").Duplicate(c.Name))
		}
		seen[c.Name] = true
	}
	return errs
}
