package postgres

import "idem/ledgerd/store"

// A version is, from its highest bit to its lowest:
//
//   - 47 bits of the sequence versions, so that a record's versions grow and none is ever given twice;
//   - 15 random bits, for the one case in which the sequence itself goes back: a failover to a standby that had not
//     received everything. A node that remembers a record from before must not find its version on another content;
//   - one bit that says whether the record has rows in the table entries, so that whoever replaces it knows from the
//     version that it expects whether there is something to remove. The usual write never touches that table.
const (
	versionShift   = 16
	versionEntries = 1
)

// nextVersion is the SQL of a new version; its parameter is the lowest bit.
const nextVersion = "(nextval('versions') << 16) | (floor(random() * 32768)::bigint << 1) | "

// hasEntries says whether the record of a version has rows in the table entries.
func hasEntries(version uint64) bool { return version&versionEntries != 0 }

// entriesBit is the lowest bit of the version that a write makes.
func entriesBit(w *store.Write) int64 {
	for i := range w.Entries {
		if w.Entries[i].Index != store.Due {
			return versionEntries
		}
	}
	return 0
}
