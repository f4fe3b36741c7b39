//go:build !unix

package sqlite

import "os"

// identity says which file it is that a path leads to.
type identity struct{ info os.FileInfo }

func (a identity) same(b identity) bool { return os.SameFile(a.info, b.info) }

func identify(path string) (identity, error) {
	info, err := os.Stat(path)
	return identity{info}, err
}
