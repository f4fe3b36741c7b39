package pgtest

import (
	"fmt"
	"os"
	"path/filepath"
)

// installed is where `make tools` links the server's tree, from the repository's root.
const installed = ".tools/postgres"

// install gives the folder of the server's tree.
func install() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod in this folder or above it: run the tests inside the repository")
		}
		dir = up
	}
	tree, err := filepath.EvalSymlinks(filepath.Join(dir, installed))
	if err == nil {
		_, err = os.Stat(filepath.Join(tree, "bin", "postgres"))
	}
	if err != nil {
		return "", fmt.Errorf("no PostgreSQL server in %s: run `make tools` (%w)", installed, err)
	}
	return tree, nil
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
