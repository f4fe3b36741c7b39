package ordeal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"idem/e2e/envoytest"
	"idem/ledgerd/store/sqlite"
	"idem/ledgerd/wire"
)

// full is the story of a disk that is full for a while, told twice: of a small file system of its own, and of a limit on
// the size of files, which any process may set for its own. fill and room end and begin the time in which writes work.
func full(t *testing.T, l ledgerdAt, fill, room func()) (s *server, books []*callBook) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s = newServer(l.data)
	work := startLoad(ctx, s, "full", callers, uint64(time.Now().UnixNano()))
	envoytest.Until(t, time.Minute, "answers", func() bool { return s.answered.Load() > 2000 })
	known := work.someCommitted()

	fill()
	probe := func(id string) (wire.Answer, time.Duration) {
		t.Helper()
		at := time.Now()
		answers, err := s.link().send(ctx, []wire.Op{{Kind: wire.OpReserve, Attempt: id, Intent: digest(id), Fingerprint: digest(id), Rule: rule()}})
		if err != nil {
			t.Fatalf("while the disk is full: %v", err)
		}
		return answers[0], time.Since(at)
	}
	n := 0
	envoytest.Until(t, time.Minute, "a refusal", func() bool {
		n++
		a, took := probe(fmt.Sprint("probe-", n))
		if a.Kind != wire.AnswerExecute && (a.Kind != wire.AnswerError || a.Code != wire.CodeUnavailable || a.RetryAfterMS == 0) {
			t.Fatalf("while the disk is full a reserve gets %s, want %s with retry_after_ms", show(&a), wire.CodeUnavailable)
		}
		if took > 15*time.Second {
			t.Fatalf("a refusal took %v", took)
		}
		return a.Kind == wire.AnswerError
	})
	envoytest.Until(t, time.Minute, "/readyz to fail", func() bool { return l.ready() == http.StatusServiceUnavailable })
	// What is known already is given all the same.
	for attempt, body := range known.committed {
		answers, err := s.link().send(ctx, []wire.Op{{Kind: wire.OpFetch, Attempt: attempt, Intent: known.intent}})
		if err != nil || answers[0].Kind != wire.AnswerResult || string(answers[0].Result.Body) != body {
			t.Errorf("while the disk is full a fetch of %s gets %v, %v", attempt, answers, err)
		}
	}

	room()
	envoytest.Until(t, time.Minute, "/readyz to be well again", func() bool { return l.ready() == http.StatusOK })
	work.finish()
	again(ctx, t, s, work.books, 0)
	executed, failed, committed, _ := count(work.books)
	t.Logf("%d answers, %d executions, %d of them failed, %d committed, around %d probes of the full disk", s.answered.Load(), executed, failed, committed, n)
	return s, work.books
}

// ledgerdAt is where a ledgerd listens.
type ledgerdAt struct{ data, admin string }

func (l ledgerdAt) ready() int {
	response, err := http.Get("http://" + l.admin + "/readyz")
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// A limit on the size of its files is what ledgerd meets under ulimit -f or LimitFSIZE.
func TestAFileSizeLimitRefusesAndDoesNoDamage(t *testing.T) {
	l := envoytest.StartLedgerd(t, "")
	limit := func(bytes uint64) {
		t.Helper()
		var old unix.Rlimit
		if err := unix.Prlimit(l.PID(), unix.RLIMIT_FSIZE, nil, &old); err != nil {
			t.Fatalf("prlimit: %v", err)
		}
		old.Cur = min(bytes, old.Max)
		if err := unix.Prlimit(l.PID(), unix.RLIMIT_FSIZE, &old, nil); err != nil {
			t.Fatalf("prlimit: %v", err)
		}
	}
	s, books := full(t, ledgerdAt{l.Address, l.Admin}, func() { limit(largest(t, l.Dir) + 4096) }, func() { limit(unix.RLIM_INFINITY) })
	l.Kill9(t)
	l.Start(t)
	again(t.Context(), t, s, books, 1)
	l.Stop(t)
	sound(t, l.Dir)
}

// largest is the size of the largest file of a folder.
func largest(t *testing.T, dir string) (size uint64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if info, infoErr := e.Info(); err == nil && infoErr == nil {
			size = max(size, uint64(info.Size()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return size
}

// sound looks whether a data directory is as it should be.
func sound(t *testing.T, dir string) {
	t.Helper()
	kept, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatalf("open what is left: %v", err)
	}
	if err := errors.Join(kept.Check(t.Context()), kept.Close()); err != nil {
		t.Errorf("what is left: %v", err)
	}
}

// A full file system: a tmpfs that ledgerd has to itself, in a mount namespace of its own. Where the kernel does not let
// this user make one, the limit above has to do, and the log says so.
func TestAFullFileSystemRefusesAndDoesNoDamage(t *testing.T) {
	dir := t.TempDir()
	at := ledgerdAt{envoytest.FreeAddress(t), envoytest.FreeAddress(t)}
	var log bytes.Buffer
	cmd := exec.Command("/bin/sh", "-c", `mount -t tmpfs -o size=48m,mode=0700 tmpfs "$1" && exec "$2" serve --listen "$3" --admin-listen "$4" --data-dir "$1/data"`,
		"sh", dir, envoytest.Artifact(t, "bin/ledgerd"), at.data, at.admin)
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	if err := cmd.Start(); errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Logf("NOT TRIED: this user may not make a mount namespace (%v); only the limit on file sizes was tried", err)
		return
	} else if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		if t.Failed() {
			t.Logf("ledgerd:\n%s", log.String())
		}
	})
	envoytest.Until(t, time.Minute, "ledgerd", func() bool { return at.ready() == http.StatusOK })

	// Its file system, seen from here.
	inside := filepath.Join("/proc", fmt.Sprint(cmd.Process.Pid), "root", dir)
	ballast := filepath.Join(inside, "ballast")
	fill := func() {
		f, err := os.Create(ballast)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for err == nil {
			_, err = f.Write(make([]byte, 64<<10))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("filling the file system: %v", err)
		}
	}
	room := func() {
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
	s, books := full(t, at, fill, room)

	// It stops dead while the file system is full and work is under way. What is left then opens elsewhere.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	work := startLoad(ctx, s, "dead", callers, 1)
	more := s.answered.Load() + 500
	envoytest.Until(t, time.Minute, "answers", func() bool { return s.answered.Load() > more })
	fill()
	envoytest.Until(t, time.Minute, "/readyz to fail", func() bool { return at.ready() == http.StatusServiceUnavailable })
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	left := t.TempDir()
	if err := os.CopyFS(left, os.DirFS(filepath.Join(inside, "data"))); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	l := envoytest.StartLedgerd(t, left)
	s.links[0].move(l.Address)
	work.finish()
	again(ctx, t, s, work.books, 0)
	again(ctx, t, s, books, 1)
	l.Stop(t)
	sound(t, left)
}
