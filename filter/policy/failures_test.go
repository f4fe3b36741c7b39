package policy

import "testing"

// classes asks for the class of each status.
func classes(t *testing.T, f Failures, want map[int]Class) {
	t.Helper()
	for status, class := range want {
		if got := f.Classify(status); got != class {
			t.Errorf("%d is %s, want %s", status, got, class)
		}
	}
}

func TestAStatusMeansWhatTheToolSaid(t *testing.T) {
	classes(t, Failures{}, map[int]Class{
		200: Success, 201: Success, 299: Success, 304: Success, 399: Success,
		400: Definite, 404: Definite, 409: Definite, 429: Definite, 499: Definite,
		500: Definite, 501: Definite, 503: Definite, 505: Definite, 519: Definite, 530: Definite, 599: Definite,
		408: Unknown, 502: Unknown, 504: Unknown, 520: Unknown, 524: Unknown, 529: Unknown,
		0: Unknown, 101: Unknown, 199: Unknown, 600: Unknown,
	})
}

func TestStrictTakesNo5xxForAnAnswer(t *testing.T) {
	classes(t, Failures{Strict: true}, map[int]Class{
		500: Unknown, 503: Unknown, 599: Unknown, 404: Definite, 200: Success, 408: Unknown,
	})
}

func TestARuleMovesStatuses(t *testing.T) {
	rule := parse(t, ruleWith(`"failures": {"success": [404, "409"], "definite": [408, "500-501", 502], "unknown": ["3xx", 429], "strict": true}`)).Calls[0]
	classes(t, rule.Failures, map[int]Class{
		404: Success, 409: Success, 408: Definite, 500: Definite, 501: Definite, 502: Definite, 503: Unknown,
		300: Unknown, 399: Unknown, 429: Unknown, 200: Success, 410: Definite,
	})
}
