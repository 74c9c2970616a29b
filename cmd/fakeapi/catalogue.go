package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// listCatalogue prints a line for each case and each client.
func listCatalogue(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "NUMBER\tNAME\tROLE\tPASSED BY\tTITLE") // Flush has the error
	for _, c := range scenario.Catalogue() {
		_, _ = fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\n", c.Number, c.Name, c.Role, namesOrDash(c.Passes), c.Title)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	_, _ = fmt.Fprintln(w, "\nROLE\tCLIENT\tDESCRIPTION")
	for _, client := range clients.All() {
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\n", client.Role, client.Name, client.Doc)
	}
	return w.Flush()
}

func namesOrDash(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ", ")
}

// runCatalogue runs the cases with all clients of their roles, and prints for each role a table of
// which client passes which case. Results that the catalogue does not expect are printed to stderr.
func runCatalogue(ctx context.Context, c *call, f runFlags) error {
	surprised := false
	for i, role := range slices.DeleteFunc(roleNames(), func(role string) bool { return len(f.implementations(role)) == 0 }) {
		implementations := f.implementations(role)
		table := tabwriter.NewWriter(c.stdout, 0, 0, 2, ' ', 0)
		if i > 0 {
			_, _ = fmt.Fprintln(table) // Flush has the error
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\n", strings.ToUpper(role), strings.ReplaceAll(clientNames(implementations, false), ", ", "\t"))
		for _, one := range scenario.Catalogue() {
			if one.Role != role {
				continue
			}
			_, _ = fmt.Fprintf(table, "%d %s", one.Number, one.Name)
			for _, player := range implementations {
				result, surprise := f.runCase(ctx, one, player)
				if ctx.Err() != nil {
					return errors.New("interrupted")
				}
				_, _ = fmt.Fprint(table, "\t", result)
				if surprise != "" {
					surprised = true
					_, _ = fmt.Fprintln(c.stderr, prefix+surprise)
				}
			}
			_, _ = fmt.Fprintln(table)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if surprised {
		return errReported
	}
	return nil
}

// implementations returns the clients of a role that take part.
func (f *runFlags) implementations(role string) []clients.Implementation {
	if len(f.clients.clients) > 0 {
		return f.clients.inRole(role)
	}
	return clientsInRole(role)
}

// runCase runs a case with a client. It returns the cell of the table, and a message if the
// catalogue expects another result.
func (f *runFlags) runCase(ctx context.Context, of scenario.Case, client clients.Implementation) (result, surprise string) {
	s := catalogueRun(of, client)
	_, err := f.play(ctx, s, nil)
	_, known := of.Fails[client.Name]
	switch {
	case err == nil && known:
		return "passes", fmt.Sprintf("%s: the catalogue expects %s to fail, but it passes", s.name, client.Name)
	case err == nil:
		return "passes", ""
	case !known:
		return "fails", fmt.Sprintf("%s: %s fails: %s", s.name, client.Name, shortError(err))
	}
	return "fails", ""
}
