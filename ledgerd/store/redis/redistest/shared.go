package redistest

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// shared is the server that the tests of one binary have in common.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	places atomic.Int64
}

// Shared gives the URL of an empty store on a server that all tests of the binary share. It is started when it is first
// asked for; Main ends it.
func Shared(t testing.TB, parameters ...string) string {
	t.Helper()
	program := binary(t)
	shared.once.Do(func() {
		s := &Server{}
		if s.Address, shared.err = free(); shared.err != nil {
			return
		}
		if s.Dir, shared.err = os.MkdirTemp("", "idem-valkey-"); shared.err != nil {
			return
		}
		shared.server, shared.err = s, s.run(program, nil)
	})
	if shared.err != nil {
		t.Fatalf("starting valkey-server: %v", shared.err)
	}
	prefix := "prefix=t" + strconv.FormatInt(shared.places.Add(1), 10)
	return shared.server.URL(append(parameters, prefix)...)
}

// Main runs a binary's tests and then ends the shared server. It is for TestMain, and gives the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	if s := shared.server; s != nil {
		if !s.end() {
			fmt.Fprintln(os.Stderr, "the shared valkey-server did not end")
			code = max(code, 1)
		}
		if err := os.RemoveAll(s.Dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	return code
}
