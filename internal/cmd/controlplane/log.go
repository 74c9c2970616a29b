package controlplane

import (
	"context"
	"io"
	"log/slog"

	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// NewLogger returns a logger that writes to w in the format of Kubernetes components.
func NewLogger(w io.Writer) klog.Logger {
	return textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(w)))
}

// NewRequestLogger returns a logger of requests in the same format.
func NewRequestLogger(w io.Writer) *slog.Logger {
	if sink, ok := NewLogger(w).GetSink().(slogSink); ok { // that of package textlogger
		return slog.New(slogHandler{sink})
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// slogSink is the part of a sink of package textlogger for slog.
type slogSink interface {
	Handle(ctx context.Context, record slog.Record) error
}

// slogHandler writes records of all levels to a sink. Loggers with attributes of their own are not
// used.
type slogHandler struct{ sink slogSink }

func (h slogHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h slogHandler) Handle(ctx context.Context, record slog.Record) error {
	return h.sink.Handle(ctx, record)
}

func (h slogHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

func (h slogHandler) WithGroup(string) slog.Handler { return h }
