package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"idem/ledgerd/api"
)

// tokenSetting is one of serve's three settings of tokens.
type tokenSetting struct {
	value string
	file  string // that the value was read from, and is read from anew; empty: there is none
}

// tokenSettings are the tokens of serve's two listeners.
type tokenSettings struct{ data, operators, viewers tokenSetting }

func (t *tokenSettings) flags(f *pflag.FlagSet) {
	secretFlag(f, &t.data.value, "token", "the filter's token for the data API")
	secretFlag(f, &t.operators.value, "operator-token", "for the admin API: everything")
	secretFlag(f, &t.viewers.value, "viewer-token", "for the admin API: looking only")
}

// named gives each setting its name, and what stands in the audit for a token without one.
func (t *tokenSettings) named() []struct {
	setting *tokenSetting
	flag    string
	who     string
} {
	return []struct {
		setting *tokenSetting
		flag    string
		who     string
	}{{&t.data, "token", "filter"}, {&t.operators, "operator-token", "operator"}, {&t.viewers, "viewer-token", "viewer"}}
}

// noteFiles remembers which of them came from a file.
func (t *tokenSettings) noteFiles(flags *pflag.FlagSet) {
	for _, n := range t.named() {
		n.setting.file = secretFile(flags, n.flag)
	}
}

// parse reads the tokens, or says everything that is wrong with them.
func (t *tokenSettings) parse() (api.Doors, error) {
	var d api.Doors
	var wrong []error
	into := []*api.Tokens{&d.Data, &d.Operators, &d.Viewers}
	for i, n := range t.named() {
		tokens, err := api.ParseTokens(n.setting.value, n.who)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("--%s: %w", n.flag, err))
		case tokens.Empty() && strings.TrimSpace(n.setting.value) != "":
			wrong = append(wrong, fmt.Errorf("--%s: there is no token in it, want at least one line with one", n.flag))
		}
		*into[i] = tokens
	}
	return d, errors.Join(wrong...)
}

// anew reads the files again. What it gives is whole: every file was read and understood.
func (t tokenSettings) anew() (d api.Doors, files int, err error) {
	var wrong []error
	for _, n := range t.named() {
		if n.setting.file == "" {
			continue
		}
		files++
		value, err := readSecret(n.flag+"-file", n.setting.file)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		n.setting.value = value
	}
	if len(wrong) > 0 {
		return d, files, errors.Join(wrong...)
	}
	d, err = t.parse()
	return d, files, err
}

// hangup lets SIGHUP read the token files anew, until ctx ends: so tokens are replaced without a restart. Where a file
// cannot be taken all tokens stay as they are.
func (t tokenSettings) hangup(ctx context.Context, signals <-chan os.Signal, admit func(api.Doors), log *slog.Logger) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-signals:
		}
		switch d, files, err := t.anew(); {
		case files == 0:
			log.Warn("SIGHUP: no token came from a file, so there is nothing to read anew")
		case err != nil:
			log.Error("SIGHUP: the token files were not taken; the tokens stay as they were", "error", err)
		default:
			admit(d)
			log.Info("SIGHUP: the token files were read anew", "tokens", d.Data.Len(), "operator_tokens", d.Operators.Len(), "viewer_tokens", d.Viewers.Len())
		}
	}
}

// hangups gives the SIGHUPs from now on, which then no longer end the process.
func hangups() (signals <-chan os.Signal, stop func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGHUP)
	return c, func() { signal.Stop(c) }
}
