package fakeapi

import (
	"example.com/fakeapi/fake/internal/managedfields"
)

// Preload initializes what the servers of a process share and the first write needs: the schemas of
// the built-in types, by which fields have owners. That takes about 100 ms of processor time, which
// the first write takes longer otherwise. The command fakeapi calls it in the background when it
// serves. It is safe for concurrent use, and does nothing if it was called before.
func Preload() { managedfields.Preload() }
