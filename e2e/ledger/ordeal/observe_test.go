package ordeal

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"idem/e2e/envoytest"
)

// gauge reads one of ledgerd's metrics.
func gauge(t *testing.T, l *envoytest.Ledgerd, name string) float64 {
	t.Helper()
	response, err := http.Get("http://" + l.Admin + "/metrics")
	if err != nil {
		t.Fatalf("GET /metrics: %v", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("GET /metrics: %v", err)
	}
	for line := range strings.Lines(string(text)) {
		var value float64
		if n, _ := fmt.Sscanf(line, name+" %g", &value); n == 1 {
			return value
		}
	}
	t.Fatalf("GET /metrics has no %s", name)
	return 0
}

// mostMemory is the most that a process has had in RAM so far, in bytes.
func mostMemory(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	t.Fatalf("/proc/%d/status has no VmHWM", pid)
	return 0
}
