package ledger

import (
	"testing"

	"idem/ledgerd/store/sqlite"
)

func BenchmarkUniqueDurable(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		kept, err := sqlite.Open(b.Context(), b.TempDir(), sqlite.Options{})
		if err != nil {
			b.Fatal(err)
		}
		unique(b, kept)
	})
}
