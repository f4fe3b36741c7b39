package policy

import (
	"testing"

	"idem/ledgerd/wire"
)

// The ledger refuses a commit with a header that belongs to one connection: so none may be left in what the filter stores.
func TestTheLedgerTakesEveryHeaderThatTheFilterStores(t *testing.T) {
	for _, name := range []string{"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization",
		"te", "trailer", "transfer-encoding", "upgrade", "content-length", "content-type", "location", "etag", "set-cookie"} {
		if wire.HopByHop(name) && !ConnectionHeader(name) {
			t.Errorf("%s would be stored, and is refused", name)
		}
	}
}
