package main

import (
	"fmt"
	"io"
	"log/slog"
)

// newLog gives the program's log. It holds what an operator should know: never a body, never a credential.
func newLog(w io.Writer, level, format string) (*slog.Logger, error) {
	var at slog.Level
	if err := at.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level %q: want debug, info, warn or error", level)
	}
	options := &slog.HandlerOptions{Level: at}
	switch format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("--log-format %q: want text or json", format)
	}
}
