package pgtest

import (
	"os"
	"path/filepath"

	"idem/ledgerd/store/storetest/server"
)

// install gives the folder of the server's tree, which `make tools` links.
func install() (string, error) {
	program, err := server.Pinned(".tools/postgres/bin/postgres")
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(filepath.Dir(filepath.Dir(program)))
}

// reachable says whether every user may go into a folder.
func reachable(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&0o005 != 0o005 {
			return false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return true
		}
		dir = up
	}
}
