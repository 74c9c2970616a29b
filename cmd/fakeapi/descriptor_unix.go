//go:build unix

package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// descriptorNumber returns the number of the descriptor of this process that path names.
func descriptorNumber(path string) (number int, ok bool) {
	switch path {
	case "/dev/stdout":
		return 1, true
	case "/dev/stderr":
		return 2, true
	}
	for _, dir := range []string{"/dev/fd/", "/proc/self/fd/"} {
		if text, found := strings.CutPrefix(path, dir); found {
			number, err := strconv.Atoi(text)
			return number, err == nil && number >= 0
		}
	}
	return 0, false
}

// inheritedFile returns a duplicate of a descriptor that the process was started with. Unlike a
// file that is opened by its name, it can be a socket, and a file keeps its offset. Descriptors
// that the process opened itself, such as connections, are closed on exec, and are refused.
func inheritedFile(number int) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(number), unix.F_GETFD, 0)
	switch {
	case err != nil:
		return nil, err
	case flags&unix.FD_CLOEXEC != 0:
		return nil, errors.New("it is no descriptor that the process was started with")
	}
	if mode, err := unix.FcntlInt(uintptr(number), unix.F_GETFL, 0); err != nil || mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, cmp.Or(err, error(unix.EBADF))
	}
	duplicate, err := unix.FcntlInt(uintptr(number), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(duplicate), "/dev/fd/"+strconv.Itoa(number)), nil
}

// setOwner gives a file the owner and the group of another one, as far as the user may.
func setOwner(file *os.File, as fs.FileInfo) {
	if was, ok := as.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(was.Uid), int(was.Gid)) // only root may
	}
}
