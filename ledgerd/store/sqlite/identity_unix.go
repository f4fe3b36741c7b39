//go:build unix

package sqlite

import "syscall"

// identity says which file it is that a path leads to.
type identity struct{ device, inode uint64 }

func (a identity) same(b identity) bool { return a == b }

// identify asks the system itself: os.Stat would make garbage at every commit.
func identify(path string) (identity, error) {
	var st syscall.Stat_t
	for {
		err := syscall.Stat(path, &st)
		if err == syscall.EINTR {
			continue
		}
		return identity{uint64(st.Dev), uint64(st.Ino)}, err //nolint:unconvert // they have other types on other systems
	}
}
