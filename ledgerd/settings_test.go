package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Which settings a command has is seen by the server that `holds list` says it cannot reach.
func TestAFlagWinsOverTheEnvironmentAndThatOverTheFile(t *testing.T) {
	config := file(t, "ledgerd.yaml", "server: http://127.0.0.1:3\n")
	list := []string{"holds", "list", "--config", config}
	command(t, list...).wants(t, 1, "http://127.0.0.1:3 ")
	env := "LEDGERD_SERVER=http://127.0.0.1:2"
	command(t, append([]string{env}, list...)...).wants(t, 1, "http://127.0.0.1:2 ")
	command(t, append(append([]string{env}, list...), "--server", "http://127.0.0.1:1")...).wants(t, 1, "http://127.0.0.1:1 ")
	command(t, "LEDGERD_CONFIG="+config, "holds", "list").wants(t, 1, "http://127.0.0.1:3 ")
}

func TestOneFileServesAllCommands(t *testing.T) {
	config := file(t, "ledgerd.yaml", "data-dir: /nowhere\nallow-host: [a.example, b.example]\nallow-reset: true\nserver: http://127.0.0.1:3\n")
	command(t, "holds", "list", "--config", config).wants(t, 1, "http://127.0.0.1:3 ")
}

func TestASettingsFileIsTakenWholeOrRefused(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		parts []string
	}{
		"unknown":      {"listen: x\ndata_dir: y\n", []string{"line 2", `"data_dir"`, "data-dir", "listen"}},
		"twice":        {"listen: x\nlisten: y\n", []string{"listen"}},
		"wrong kind":   {"timeout: soon\n", []string{"line 1", "timeout", `"soon": want a duration with its unit, such as 10s`}},
		"nested":       {"server: {a: b}\n", []string{"line 1", "server", "one value"}},
		"empty value":  {"server:\n", []string{"line 1", "server"}},
		"no mapping":   {"- listen\n", []string{"want a mapping"}},
		"an argument":  {"reason: x\n", []string{`"reason"`}},
		"not YAML":     {"a: [\n", []string{"ledgerd.yaml"}},
		"other values": {"json: maybe\n", []string{"json", `"maybe": want true or false`}},
	} {
		t.Run(name, func(t *testing.T) {
			command(t, "holds", "list", "--config", file(t, "ledgerd.yaml", c.text)).wants(t, 2, c.parts...)
		})
	}
	command(t, "holds", "list", "--config", "/nowhere.yaml").wants(t, 2, "/nowhere.yaml")
	command(t, "LEDGERD_LISTN=x", "holds", "list").wants(t, 2, "LEDGERD_LISTN", "no such setting", "LEDGERD_LISTEN")
	command(t, "LEDGERD_SERVICE_HOST=10.0.0.1", "LEDGERD_PORT=tcp://10.0.0.1:7411", "LEDGERD_ADMIN_PORT_7413_TCP=x", "version").wants(t, 0)
	command(t, "LEDGERD_TIMEOUT=soon", "holds", "list").wants(t, 2, `LEDGERD_TIMEOUT: "soon": want a duration with its unit`)
}

func TestASettingsFileWithNothingInItSetsNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# listen: 127.0.0.1:1\n\n", "---\n", "--- # nothing\n", "\ufeff# nothing\n"} {
		command(t, "version", "--config", file(t, "ledgerd.yaml", text)).wants(t, 0)
	}
}

// Wherever a value comes from: the error names the setting, the value, and what would have been right.
func TestAValueOfTheWrongKindIsToldInPlainWords(t *testing.T) {
	for _, c := range []struct{ setting, value, want string }{
		{"max-queued-operations", "lots", "want a whole number, such as 10000"},
		{"max-batch-bytes", "32MB", "want a whole number, such as 33554432"},
		{"max-result-bytes", "99999999999999999999", "want a whole number that is not as large as that, such as 16777216"},
		{"drain-timeout", "20", "want a duration with its unit, such as 20s"},
		{"drain-delay", "x", "want a duration with its unit"},
		{"allow-reset", "maybe", "want true or false"},
	} {
		for place, got := range map[string]result{
			"--" + c.setting:   command(t, "serve", "--"+c.setting+"="+c.value),
			envName(c.setting): command(t, envName(c.setting)+"="+c.value, "serve"),
			c.setting:          command(t, "serve", "--config", file(t, "ledgerd.yaml", c.setting+": "+c.value+"\n")),
		} {
			got.wants(t, 2, place, fmt.Sprintf("%q: %s", c.value, c.want))
			if strings.Contains(got.err, "strconv") || strings.Contains(got.err, "parsing") || strings.Contains(got.err, "time:") {
				t.Errorf("%s", got.err)
			}
		}
	}
}

func TestASecretAndItsFileAreOneSetting(t *testing.T) {
	secret := file(t, "secret", " s3cret\n")
	serve := []string{"serve", "--listen", "nonsense"} // it gets past its settings, and no further
	command(t, append(serve, "--token", "x", "--token-file", secret)...).wants(t, 2, "both token and token-file")
	command(t, append([]string{"LEDGERD_TOKEN=x", "LEDGERD_TOKEN_FILE=" + secret}, serve...)...).wants(t, 2, "both token")
	command(t, append([]string{"LEDGERD_TOKEN_FILE=/nowhere"}, append(serve, "--token", "0123456789abcdef")...)...).wants(t, 2, "--listen nonsense")
	command(t, append(serve, "--token", "x")...).wants(t, 2, "--token: line 1: the token is 1 long: want at least 16 characters")
	command(t, append(serve, "--token-file", file(t, "none", "# nobody yet\n"))...).wants(t, 2, "--token: there is no token in it")
	command(t, append(serve, "--token-file", "/nowhere")...).wants(t, 2, "token-file", "/nowhere")
	command(t, append(serve, "--token-file", file(t, "empty", "\n"))...).wants(t, 2, "is empty")
	got := command(t, append(serve, "--token-file", file(t, "bad", "a b c s3cret"))...)
	got.wants(t, 2, "--token: line 1")
	if strings.Contains(got.err, "s3cret") {
		t.Errorf("a secret is shown: %s", got.err)
	}
}

// serve looks at every setting before it makes anything: it finds each of these whether or not its address is free.
func TestWrongCommandLinesExitWith2(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, args := range [][]string{
		{"--nope"}, {"nope"}, {"serve", "extra"}, {"holds", "show"}, {"explain"}, {"serve", "--log-level", "loud"},
		{"serve", "--store", "mysql://u:s3cret@h/db"}, {"serve", "--store", "postgres://u:s3cret@h/db?schema=9"}, {"serve", "--listen", "0.0.0.0:0"},
		{"serve", "--listen", "127.0.0.1:0", "--admin-listen", "0.0.0.0:0"}, {"serve", "--client-ca", "x"},
		{"serve", "--allow-host", "http://x"}, {"serve", "--keep", "some"}, {"serve", "--rules", "/nowhere"},
		{"serve", "--redact", "/card"}, {"serve", "--keep", "redacted", "--redact", "card"}, {"serve", "--admin-listen", "127.0.0.1:99999"}, {"serve", "--max-batch-bytes", "0"},
		{"serve", "--store", "redis://u:s3cret@h/x"}, {"serve", "--data-dir", ""}, {"serve", "--drain-timeout", "0s"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "new")
			if args[0] == "serve" {
				args = append([]string{"LEDGERD_LISTEN=" + taken.Addr().String(), "serve", "--data-dir", dir}, args[1:]...)
			}
			got := command(t, args...)
			got.wants(t, 2)
			if _, err := os.Stat(dir); err == nil {
				t.Error("the data directory was made")
			}
			if got.err == "" || strings.Contains(got.err, "s3cret") {
				t.Errorf("error %q", got.err)
			}
		})
	}
}
