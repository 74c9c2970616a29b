//go:build !unix

package main

import (
	"errors"
	"io/fs"
	"os"
)

// descriptorNumber returns false: only Unix has paths of descriptors.
func descriptorNumber(string) (number int, ok bool) { return 0, false }

func inheritedFile(int) (*os.File, error) { return nil, errors.ErrUnsupported }

// setOwner does nothing: a new file has the owner of the process.
func setOwner(*os.File, fs.FileInfo) {}
