// Package console is the pages of ledgerd's admin face: one HTML document, one style sheet and a few JavaScript
// modules, embedded in the binary and served as they are; nothing is built, nothing is fetched from elsewhere.
//
// It promises a Content-Security-Policy that allows its own files and nothing besides, no markup made of data (what
// the ledger has stored is shown as text only, which Trusted Types makes sure of where a browser knows them), and no
// secret in a page: a token that the admin API wants is typed in by its owner and kept for the tab's session.
//
// The pages decide nothing: everything they show and do goes through the admin API of package api.
package console

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
)

//go:embed pages
var pages embed.FS

// policy is the Content-Security-Policy of every page. The pages' own script and style files, calls to the admin API
// on the same origin, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// contentTypes are the types of the files that there are; a file of another kind is not served.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

// Handler serves the document at / and its files at /console/.
func Handler() http.Handler {
	files := load()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		name := strings.TrimPrefix(r.URL.Path, "/console/")
		if r.URL.Path == "/" {
			name = "index.html"
		} else if name == r.URL.Path {
			name = ""
		}
		f, found := files[name]
		switch {
		case !found:
			http.Error(w, "There is no such page. The console is at /.", http.StatusNotFound)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			h.Set("Allow", "GET, HEAD")
			http.Error(w, "Pages are fetched by GET.", http.StatusMethodNotAllowed)
		default:
			h.Set("Content-Type", contentTypes[path.Ext(name)])
			h.Set("Cache-Control", "no-cache") // kept, but asked for: an upgraded ledgerd has other pages
			h.Set("Etag", f.etag)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
		}
	})
}

type file struct {
	content []byte
	etag    string
}

// load reads the embedded files once. They are part of the program: one that cannot be read is a mistake of its maker.
func load() map[string]file {
	files := map[string]file{}
	err := fs.WalkDir(pages, "pages", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || contentTypes[path.Ext(name)] == "" {
			return err
		}
		content, err := pages.ReadFile(name)
		digest := sha256.Sum256(content)
		files[strings.TrimPrefix(name, "pages/")] = file{content, `"` + hex.EncodeToString(digest[:8]) + `"`}
		return err
	})
	if err != nil {
		panic("console: the embedded pages cannot be read: " + err.Error())
	}
	return files
}
