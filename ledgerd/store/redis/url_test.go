package redis

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestURLSaysWhereAndWhatIsPromised(t *testing.T) {
	p, err := parse("rediss://led%40ger:p%23ss@cache.internal:7000/3?min_replicas=2&prefix=pay&addr=b:7001&addr=c&server_name=x")
	if err != nil {
		t.Fatal(err)
	}
	if p.username != "led@ger" || p.password != "p#ss" || p.db != 3 || p.prefix != "pay" || p.minReplicas != 2 || p.acceptLoss {
		t.Errorf("got %+v", p)
	}
	if want := []string{"cache.internal:7000", "b:7001", "c:6379"}; !slices.Equal(p.addresses, want) {
		t.Errorf("got the addresses %v, want %v", p.addresses, want)
	}
	if p.tls == nil || p.tls.ServerName != "x" {
		t.Errorf("got TLS settings %+v", p.tls)
	}
	p, err = parse("redis://[::1]?accept_loss=true")
	if err != nil || p.addresses[0] != "[::1]:6379" || p.tls != nil || !p.acceptLoss || p.prefix != "idem" {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestPathsAndNamesOfTheURLAreReadAsTheyAreWritten(t *testing.T) {
	if p, err := parse("redis://h?prefix=my%20ledger+1"); err != nil || p.prefix != "my ledger+1" {
		t.Errorf("got %+v, %v, want the prefix as it is written", p, err)
	}
	if _, err := parse("rediss://h?ca=/no%20such%20place/a+b.pem"); err == nil || !strings.Contains(err.Error(), "/no such place/a+b.pem") {
		t.Errorf("got %v, want the path as it is written", err)
	}
}

func TestURLWithAMistakeIsRefusedInWords(t *testing.T) {
	for url, want := range map[string]string{
		"http://h":                               `scheme is "http", want redis or rediss`,
		"redis://":                               "names no host",
		"redis://h/x":                            "number of a database",
		"redis://h/-1":                           "number of a database",
		"redis://h?ttl=5":                        `parameter "ttl", want one of: accept_loss`,
		"redis://h?accept_loss=perhaps":          `accept_loss is "perhaps", want true or false`,
		"redis://h?accept_loss=1&accept_loss=0":  "stands 2 times",
		"redis://h?min_replicas=-1":              `min_replicas is "-1"`,
		"redis://h?accept_loss=1&min_replicas=1": "contradict each other",
		"redis://h?prefix={a}":                   "no { or }",
		"redis://h?addr=":                        "addr is empty",
		"redis://h?ca=x.pem":                     "want the scheme rediss",
		"rediss://h?ca=/nowhere/x.pem":           "ca: open",
		"rediss://h?cert=x":                      "want both or none",
		"redis://h#x":                            "%23",
		"redis://u:secret@h:p^ort":               "cannot be read",
		"redis://u:secret@h?secret=secret%zz":    "query cannot be read",
	} {
		_, err := parse(url)
		if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an ErrURL with %q", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: the error tells the password: %v", url, err)
		}
	}
	if _, err := parse("x://h/y?a=1&b=2"); err == nil || strings.Count(err.Error(), "want") < 4 {
		t.Errorf("four mistakes are not told at once: %v", err)
	}
}
