package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// slots is how many hash slots a cluster has.
const slots = 16384

// StartCluster runs a cluster of so many masters for a test, each with an equal part of the slots and safe to keep a
// ledger on.
func StartCluster(t testing.TB, masters int) []*Server {
	t.Helper()
	list := make([]*Server, masters)
	buses := make([]string, masters)
	for i := range list {
		bus, err := free()
		if err != nil {
			t.Fatal(err)
		}
		_, buses[i], _ = net.SplitHostPort(bus)
		list[i] = Start(t, "--cluster-enabled", "yes", "--cluster-port", buses[i], "--cluster-node-timeout", "5000")
	}
	for i, s := range list {
		s.Do(t, "CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
		s.Do(t, "CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(slots*i/masters), strconv.Itoa(slots*(i+1)/masters-1))
	}
	for i, s := range list {
		host, port, err := net.SplitHostPort(s.Address)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range list {
			if other != s {
				other.Do(t, "CLUSTER", "MEET", host, port, buses[i])
			}
		}
	}
	for _, s := range list {
		if err := s.until(func() error {
			info, err := s.ask("CLUSTER", "INFO")
			for _, want := range []string{
				"cluster_state:ok\r\n", fmt.Sprintf("cluster_known_nodes:%d\r\n", masters), fmt.Sprintf("cluster_slots_ok:%d\r\n", slots),
			} {
				if err == nil && !strings.Contains(info, want) {
					err = fmt.Errorf("no %q in\n%s", want, info)
				}
			}
			return err
		}); err != nil {
			t.Fatalf("the cluster does not come together: %v", err)
		}
	}
	return list
}

// StartReplica runs a server that follows another one, and returns once it has all of its data.
func (s *Server) StartReplica(t testing.TB, settings ...string) *Server {
	t.Helper()
	host, port, err := net.SplitHostPort(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	r := Start(t, append([]string{"--replicaof", host + " " + port}, settings...)...)
	if err := s.until(func() error {
		n, err := s.ask("WAIT", "1", "100")
		if err == nil && n != ":1" {
			err = fmt.Errorf("%s replicas follow", n)
		}
		info, err2 := r.ask("INFO", "replication")
		if err2 == nil && !strings.Contains(info, "master_link_status:up") { // it is still reading
			err2 = fmt.Errorf("the replica says %s", info)
		}
		return errors.Join(err, err2)
	}); err != nil {
		t.Fatal(err)
	}
	return r
}

// until returns when f gives no error, or what it gave last when the server was given long enough.
func (s *Server) until(f func() error) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			log, _ := os.ReadFile(s.log())
			return fmt.Errorf("%s is not ready within %v: %w\n%s%s", s.Address, patience, err, s.errors.String(), log)
		}
	}
}
