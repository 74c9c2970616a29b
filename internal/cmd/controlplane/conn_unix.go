//go:build unix

package controlplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// maxBytes is how much a connection reads in total. Arguments and environments are smaller.
const maxBytes = 16 << 20

// Conn is a connection between the two processes. Messages are JSON values. The first byte carries
// the files.
type Conn struct {
	socket  *net.UnixConn
	decoder *json.Decoder
}

func newConn(socket *net.UnixConn) *Conn {
	return &Conn{socket: socket, decoder: json.NewDecoder(io.LimitReader(socket, maxBytes))}
}

// Close closes the connection.
func (c *Conn) Close() error { return c.socket.Close() }

// SendFiles sends open files, or none, as the first message.
func (c *Conn) SendFiles(files ...*os.File) error {
	var rights []byte
	if len(files) > 0 {
		descriptors := make([]int, len(files))
		for i, file := range files {
			descriptors[i] = int(file.Fd())
		}
		rights = syscall.UnixRights(descriptors...)
	}
	_, _, err := c.socket.WriteMsgUnix([]byte{0}, rights, nil)
	return err
}

// ReceiveFiles receives the files of SendFiles, at most ServeFiles.
func (c *Conn) ReceiveFiles() (files []*os.File, err error) {
	first, control := make([]byte, 1), make([]byte, syscall.CmsgSpace(ServeFiles*4))
	n, controlBytes, flags, _, err := c.socket.ReadMsgUnix(first, control)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(control[:controlBytes])
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		descriptors, err := syscall.ParseUnixRights(&message)
		if err != nil {
			return nil, err
		}
		for _, descriptor := range descriptors {
			syscall.CloseOnExec(descriptor)
			files = append(files, os.NewFile(uintptr(descriptor), fmt.Sprintf("descriptor %d", len(files))))
		}
	}
	switch {
	case n == 0:
		return nil, errors.Join(io.EOF, CloseAll(files...))
	case flags&syscall.MSG_CTRUNC != 0:
		return nil, errors.Join(errors.New("too many files"), CloseAll(files...))
	}
	return files, nil
}

// CloseAll closes the files that are open.
func CloseAll(files ...*os.File) (err error) {
	for _, file := range files {
		if closeErr := file.Close(); !errors.Is(closeErr, os.ErrClosed) {
			err = errors.Join(err, closeErr)
		}
	}
	return err
}

// Send sends a Request or a Response.
func (c *Conn) Send(message any) error {
	text, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = c.socket.Write(append(text, '\n'))
	return err
}

// Receive receives a Request or a Response. It returns io.EOF when the other process has closed the
// connection or ended.
func (c *Conn) Receive(message any) error {
	err := c.decoder.Decode(message)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF // it ended without having read everything
	}
	return err
}

// HasEnded reports whether the other process has closed the connection or ended, also if messages
// are left to be received.
func (c *Conn) HasEnded() (ended bool) {
	raw, err := c.socket.SyscallConn()
	if err != nil {
		return true
	}
	if raw.Control(func(descriptor uintptr) { ended = isHungUp(int(descriptor)) }) != nil {
		return true
	}
	return ended
}
