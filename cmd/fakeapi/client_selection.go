package main

import (
	"fmt"
	"slices"
	"strings"

	"example.com/fakeapi/scenario"
	"example.com/fakeapi/scenario/clients"
)

// clientSelection has the clients of --client. The zero value selects none.
type clientSelection struct{ clients []clients.Implementation }

// add parses [ROLE=]NAME. Without a role it selects the clients with that name in all roles.
func (c *clientSelection) add(text string) error {
	role, name, both := strings.Cut(text, "=")
	if !both {
		role, name = "", text
	}
	before := len(c.clients)
	for _, client := range clients.All() {
		if client.Name == name && (role == "" || client.Role == role) {
			c.clients = append(c.clients, client)
		}
	}
	if len(c.clients) == before {
		return fmt.Errorf("no such client; the clients are: %s", clientNames(clients.All(), true))
	}
	return nil
}

// inRole returns the selected clients of a role.
func (c clientSelection) inRole(role string) []clients.Implementation {
	return slices.DeleteFunc(slices.Clone(c.clients), func(client clients.Implementation) bool { return client.Role != role })
}

// forRole returns the selected client of a role, or else the first client of the role.
func (c clientSelection) forRole(role string) clients.Implementation {
	return append(c.inRole(role), clientsInRole(role)...)[0]
}

// forCase returns the selected client for the role of a case, or else the first that passes it.
func (c clientSelection) forCase(of scenario.Case) (clients.Implementation, error) {
	all := clientsInRole(of.Role)
	if len(all) == 0 {
		return clients.Implementation{}, fmt.Errorf("%s: no client has the role %s", of.Name, of.Role)
	}
	if wanted := c.inRole(of.Role); len(wanted) > 0 {
		return wanted[0], nil
	}
	if len(c.clients) > 0 {
		return clients.Implementation{}, fmt.Errorf("%s: --client %s does not have the role %s; the clients are: %s",
			of.Name, c.clients[0].Name, of.Role, clientNames(all, false))
	}
	for _, client := range all {
		if slices.Contains(of.Passes, client.Name) {
			return client, nil
		}
	}
	return all[0], nil
}

// clientsInRole returns the clients of a role.
func clientsInRole(role string) []clients.Implementation {
	return clientSelection{clients.All()}.inRole(role)
}

func clientNames(all []clients.Implementation, roles bool) string {
	var names []string
	for _, client := range all {
		if roles {
			names = append(names, client.Role+"="+client.Name)
		} else {
			names = append(names, client.Name)
		}
	}
	return strings.Join(names, ", ")
}
