// Package operators has small operators, each with a kind of bug that was published and in a
// repaired form. They are what the search of package perturb is measured with: it must find each of
// the bugs, and report nothing for the repaired forms.
//
// Without a disturbance, both forms of an operator reach the same final state. The operators are
// models of the published reports. They share no code with the projects of these reports.
//
// # To add an operator
//
// Write it in its own file, and add a line to [All].
package operators

import (
	fakeapi "example.com/fakeapi/fake"
	"example.com/fakeapi/scenario"
)

// Operator is an operator with a bug. In steps and scenarios its client is called "operator".
type Operator struct {
	// Name is the name of the operator.
	Name string
	// Source is the address of a report of the bug. Further addresses follow after a space.
	Source string
	// Bug says what the operator does wrong.
	Bug string
	// Shows says which perturbation shows the bug.
	Shows string
	// Options are the options of the server that the operator needs.
	Options []fakeapi.Option
	// Setup has the steps before the operator starts.
	Setup []scenario.Step
	// Workload has the steps while it runs, between which some time passes. They change only
	// objects that steps have created.
	Workload []scenario.Step
	// Buggy and Repaired are the two forms of the operator.
	Buggy, Repaired scenario.Client
	// Scenario is a scenario that fails for Buggy and passes for Repaired.
	Scenario string
}

// clientName is the name of the client in steps and scenarios.
const clientName = "operator"

// All returns the operators with a bug.
func All() []Operator {
	return []Operator{
		addresses(),
		checksum(),
		cleanup(),
		console(),
		credentials(),
		members(),
		records(),
		resize(),
		rollout(),
		volumes(),
	}
}
