// Demo runs all of Idem on this machine: a real Envoy with the filter on 127.0.0.1:10000, ledgerd with its console
// beside it, and a slow tool that counts what it did. It prints what to try, and on Ctrl-C stops all it started.
//
// Everything listens on loopback. The way through Envoy to ledgerd's admin API, without a token, is the demo's alone.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"idem/e2e/demo/tool"
)

// settings are the demo's flags.
type settings struct {
	config, wasm, ledgerd, envoy string
	dataDir                      string
	listen, envoyAdmin           string
	data, admin, tool            string
	verbose                      bool
}

func main() {
	var s settings
	flag.StringVar(&s.config, "config", "envoy/demo.yaml", "Envoy's bootstrap `file`")
	flag.StringVar(&s.wasm, "wasm", "bin/idem.wasm", "the compiled filter, a `file`")
	flag.StringVar(&s.ledgerd, "ledgerd", "bin/ledgerd", "the ledgerd `program`")
	flag.StringVar(&s.envoy, "envoy", ".tools/bin/envoy", "the Envoy `program`")
	flag.StringVar(&s.dataDir, "data-dir", "", "ledgerd's data `directory`, kept afterwards; default: a new one that is removed")
	flag.StringVar(&s.listen, "listen", "127.0.0.1:10000", "where callers come in, an `address`")
	flag.StringVar(&s.envoyAdmin, "envoy-admin", "127.0.0.1:9901", "Envoy's admin interface, an `address`")
	flag.StringVar(&s.data, "ledgerd-listen", "127.0.0.1:7411", "ledgerd's data API, an `address`")
	flag.StringVar(&s.admin, "ledgerd-admin", "127.0.0.1:7413", "ledgerd's admin API and console, an `address`")
	flag.StringVar(&s.tool, "tool", "127.0.0.1:7412", "the demo tool, an `address`")
	flag.BoolVar(&s.verbose, "verbose", false, "show what Envoy and ledgerd log")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, s, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo: "+err.Error())
		stop()
		os.Exit(1)
	}
}

// run starts everything, waits for ctx or for a part that ends by itself, and stops everything.
func run(ctx context.Context, s settings, out io.Writer) (err error) {
	if err := s.check(); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "idem-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	files, err := prepare(s, dir)
	if err != nil {
		return err
	}
	if s.dataDir == "" {
		s.dataDir = filepath.Join(dir, "data")
	}
	listener, err := net.Listen("tcp", s.tool)
	if err != nil {
		return fmt.Errorf("the tool cannot listen on %s: %w (choose another address by --tool)", s.tool, err)
	}
	server := &http.Server{Handler: tool.New().Handler(), ReadHeaderTimeout: 10 * time.Second}
	go server.Serve(listener)
	defer server.Close()

	all := &programs{dir: dir, verbose: s.verbose}
	defer all.stop()
	err = all.start("ledgerd", s.ledgerd, "serve", "--data-dir", s.dataDir, "--listen", s.data,
		"--admin-listen", s.admin, "--allow-reset", "--rules", files.plugin)
	if err != nil {
		return err
	}
	if err := all.await(ctx, "http://"+s.admin+"/readyz"); err != nil {
		return err
	}
	err = all.start("Envoy", s.envoy, "-c", files.envoy, "--disable-hot-restart", "--concurrency", "2",
		"--log-level", "warning", "--drain-time-s", "1")
	if err != nil {
		return err
	}
	if err := all.await(ctx, "http://"+s.listen+"/healthz"); err != nil {
		return err
	}
	fmt.Fprint(out, whatToTry(s))
	select {
	case <-ctx.Done():
		fmt.Fprintln(out, "\nStopping.")
		return nil
	case name := <-all.ended:
		return fmt.Errorf("%s ended by itself:\n%s", name, all.logOf(name))
	}
}
