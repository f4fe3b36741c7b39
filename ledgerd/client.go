package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// client speaks to a running ledgerd's admin API.
type client struct {
	server, token string
	timeout       time.Duration
	asJSON        bool
}

// clientFlags adds the flags that every command has which asks a running ledgerd.
func clientFlags(c *cobra.Command) *client {
	cl := &client{}
	flags := c.PersistentFlags()
	flags.StringVar(&cl.server, "server", "http://127.0.0.1:7413", "`URL` of ledgerd's admin API")
	// As a setting it is the server's own: LEDGERD_TOKEN is what the filter shows to the data API.
	secretFlag(flags, &cl.token, "token", "the token for it: the operator's, or to look only, the viewer's (setting: operator-token)")
	_ = flags.SetAnnotation("token", settingAnnotation, []string{"operator-token"})
	_ = flags.SetAnnotation("token-file", settingAnnotation, []string{"operator-token-file"})
	flags.DurationVar(&cl.timeout, "timeout", 10*time.Second, "how long to wait for it")
	flags.BoolVar(&cl.asJSON, "json", false, "give the reply as JSON")
	return cl
}

// refusedError is a problem that the admin API answered with.
type refusedError struct {
	Status       int
	Code         string `json:"code"`
	Title        string `json:"title"`
	Detail       string `json:"detail"`
	RetryAfterMS int64  `json:"retry_after_ms"`
}

func (e *refusedError) Error() string {
	text := e.Detail
	if text == "" {
		text = e.Title
	}
	if text == "" {
		text = http.StatusText(e.Status)
	}
	if e.Code != "" {
		text = e.Code + ": " + text
	}
	if e.RetryAfterMS > 0 {
		text += fmt.Sprintf(" (may be tried again in %v)", (time.Duration(e.RetryAfterMS) * time.Millisecond).Round(time.Second))
	}
	return printable(text)
}

// do sends a request and gives the reply's JSON. in is the body of a POST; nil: a GET.
func (cl *client) do(ctx context.Context, path string, in any) ([]byte, error) {
	base, err := url.Parse(cl.server)
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, usageError{fmt.Errorf("--server %q: want the URL of the admin API, such as http://127.0.0.1:7413", cl.server)}
	}
	if cl.timeout <= 0 {
		return nil, usageError{fmt.Errorf("--timeout %v: want a positive duration", cl.timeout)}
	}
	ctx, cancel := context.WithTimeout(ctx, cl.timeout)
	defer cancel()
	method, body := http.MethodGet, io.Reader(nil)
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(cl.server, "/")+path, body)
	if err != nil {
		return nil, usageError{err}
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if cl.token != "" {
		r.Header.Set("Authorization", "Bearer "+firstToken(cl.token))
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, unreachable(cl.server, err, "--server says where its admin API is")
	}
	defer response.Body.Close()
	const most = 64 << 20
	reply, err := io.ReadAll(io.LimitReader(response.Body, most))
	if err != nil {
		return nil, fmt.Errorf("ledgerd at %s: the reply was cut short: %w", cl.server, err)
	}
	if response.StatusCode >= http.StatusBadRequest {
		refused := &refusedError{}
		_ = json.Unmarshal(reply, refused) // a reply that is no problem is told by its status
		refused.Status = response.StatusCode
		return nil, refused
	}
	return reply, nil
}

// ask sends a request and reads the reply into out.
func (cl *client) ask(ctx context.Context, path string, in, out any) ([]byte, error) {
	reply, err := cl.do(ctx, path, in)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return nil, fmt.Errorf("ledgerd at %s answered with something else than its admin API does: %w", cl.server, err)
	}
	return reply, nil
}

// checkLimit wants a --limit that the admin API takes.
func checkLimit(n int) error {
	if n < 1 || n > 1000 {
		return usageError{fmt.Errorf("--limit %d: want 1 to 1000", n)}
	}
	return nil
}

// firstToken gives the first token of a token file's text, in which a line may begin with a name and a # ends what
// counts.
func firstToken(text string) string {
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			return fields[len(fields)-1]
		}
	}
	return ""
}

// unreachable says that no ledgerd answers at an address, and by which flag another is given.
func unreachable(server string, err error, flag string) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("ledgerd at %s cannot be reached: %w (is it running? %s)", server, err, flag)
}

// list shows a list: the server's own JSON, or a table of rows, whose first is the heading; none is said where there is
// nothing below it.
func (cl *client) list(out io.Writer, raw []byte, rows [][]string, none string) error {
	switch {
	case cl.asJSON:
		_, err := out.Write(raw)
		return err
	case len(rows) == 1:
		fmt.Fprintln(out, none)
		return nil
	}
	return table(out, rows)
}
