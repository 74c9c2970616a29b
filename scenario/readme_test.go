package scenario_test

import (
	"context"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// myCreator is a client in the role of creator.
func myCreator(ctx context.Context, config *rest.Config) error {
	all := clients.All()
	i := slices.IndexFunc(all, func(c clients.Implementation) bool { return c.Role == "creator" && c.Name == "thorough" })
	return all[i].Client(ctx, config)
}

// The README's one call for all cases of a role.
func TestReadmeCatalogue(t *testing.T) {
	scenario.RunCatalogue(t, "creator", myCreator, nil)
}
