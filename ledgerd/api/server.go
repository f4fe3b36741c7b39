package api

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Server gives the http.Server that a face is served by. Its requests end when ctx does: awaits and event streams,
// which would hold up a shutdown, with it; operations that write are finished all the same. HTTP/2 is spoken without
// TLS too, for an Envoy cluster that keeps all awaits on one connection.
func Server(ctx context.Context, face http.Handler, log *slog.Logger) *http.Server {
	s := &http.Server{
		Handler:           face,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       60 * time.Second, // of a whole request; replies have deadlines of their own
		IdleTimeout:       5 * time.Minute,  // longer than Envoy's: who sends must be the one who closes
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		Protocols:         new(http.Protocols),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: 10_000},
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}
