//go:build unix

package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// owner is the user whom the server runs as; nil: whoever runs the test.
type owner struct{ uid, gid int }

// serverUser gives nobody for root, whom the server refuses.
func serverUser() (*owner, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("the server refuses root, and there is no user nobody to run it as: %w", err)
	}
	uid, err := strconv.Atoi(nobody.Uid)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.Atoi(nobody.Gid)
	if err != nil {
		return nil, err
	}
	return &owner{uid, gid}, nil
}

// give makes a folder and what is in it the owner's.
func (o *owner) give(dir string) error {
	if o == nil {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, o.uid, o.gid)
	})
}

func (o *owner) attributes() *syscall.SysProcAttr {
	a := dieWithParent()
	if o != nil {
		a.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid), NoSetGroups: false}
	}
	return a
}
