package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// outputFile is a file that a command writes. A regular file is replaced once its content is
// complete. Devices, FIFOs and descriptors of the process are written in place.
type outputFile struct {
	path     string // without links; "" for a descriptor
	existing fs.FileInfo
	stream   *os.File // nil for a regular file
}

// openOutput opens a file for writing, or returns an error if it cannot be written. Links are
// followed. A regular file does not change. Opening a FIFO waits for its reader, until ctx ends.
func openOutput(ctx context.Context, path string) (*outputFile, error) {
	path, err := followLinks(path)
	if err != nil {
		return nil, unwrapPathError(err)
	}
	if number, ok := descriptorNumber(path); ok {
		stream, err := inheritedFile(number)
		return &outputFile{stream: stream}, err
	}
	f := &outputFile{path: path}
	if f.existing, err = os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return f, f.checkReplaceable()
	} else if err != nil {
		return nil, unwrapPathError(err)
	}
	stream, err := interruptible(ctx, func() (*os.File, error) { return os.OpenFile(path, os.O_WRONLY, 0) })
	switch {
	case err != nil:
		return nil, unwrapPathError(err)
	case f.existing.Mode().IsRegular():
		return f, errors.Join(stream.Close(), f.checkReplaceable())
	}
	f.stream = stream
	return f, nil
}

// checkReplaceable returns an error if no file can be created next to the file.
func (f *outputFile) checkReplaceable() error {
	temporary, err := createTemporary(filepath.Dir(f.path), 0o600)
	if err == nil {
		err = errors.Join(temporary.Close(), os.Remove(temporary.Name()))
	}
	return unwrapPathError(err)
}

// write writes the content and closes the file. If that fails, a regular file is as before. A file
// that is replaced keeps its mode and owner.
func (f *outputFile) write(content func(io.Writer) error) error {
	if f.stream != nil {
		return unwrapPathError(errors.Join(content(f.stream), f.stream.Close()))
	}
	return replaceFile(f.path, 0o666, func(temporary *os.File) error {
		if f.existing == nil {
			return content(temporary)
		}
		setOwner(temporary, f.existing)
		return errors.Join(temporary.Chmod(f.existing.Mode().Perm()), content(temporary))
	})
}

// close closes a file that was not written.
func (f *outputFile) close() {
	if f.stream != nil {
		_ = f.stream.Close() // it may be closed already
	}
}

// isSame reports whether both are the same regular file.
func (f *outputFile) isSame(other *outputFile) bool {
	return f.stream == nil && other.stream == nil && f.path == other.path
}

// replaceFile replaces a file, or creates it with mode and the umask. It writes a temporary file in
// the same directory and renames it. If that fails, nothing has changed.
func replaceFile(path string, mode fs.FileMode, write func(*os.File) error) (err error) {
	temporary, err := createTemporary(filepath.Dir(path), mode)
	if err != nil {
		return unwrapPathError(err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	if err := errors.Join(write(temporary), temporary.Close()); err != nil {
		return unwrapPathError(err)
	}
	return unwrapPathError(os.Rename(temporary.Name(), path))
}

// createTemporary creates a file with a random name. Unlike that of os.CreateTemp, its mode depends
// on the umask.
func createTemporary(dir string, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, ".fakeapi-"+rand.Text()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// followLinks returns the path of the file that path leads to, which need not exist, or of a
// descriptor.
func followLinks(path string) (string, error) {
	for range 40 { // the limit of Linux
		if _, ok := descriptorNumber(path); ok {
			return path, nil
		}
		dir, name := filepath.Split(path)
		dir, err := filepath.EvalSymlinks(cmp.Or(dir, "."))
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, name)
		target, err := os.Readlink(path)
		switch {
		case err != nil: // no link, or no file
			return path, nil
		case filepath.IsAbs(target):
			path = target
		default:
			path = dir + string(filepath.Separator) + target // not cleaned: it may have .. after a link
		}
	}
	return "", syscall.ELOOP
}
