package exchange

import (
	"testing"

	"idem/ledgerd/wire"
)

// A model reads title and detail as one text: what it is told stands there once, and says whether to try again.
func TestModelIsToldWhatHappenedOnce(t *testing.T) {
	for _, tc := range []struct {
		name string
		p    problem
		want string
	}{
		{"in doubt", problem{code: codeInDoubt, detail: detailInDoubt},
			"It may have happened: the tool was called and its answer was lost; it is not executed again until a person says so. Do not retry this call."},
		{"in flight", inFlightProblem(0),
			"The same call is still being executed: the wait for it is over, and the execution goes on; ask again for its result. The same call may be tried again after 1000 ms."},
		{"a result that was too large", missingProblem(wire.MissingTooLarge),
			"It happened; its result is not stored: it was larger than max_result_bytes. Do not retry this call."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := tc.p.forModel(problemKinds[tc.p.code]); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}
