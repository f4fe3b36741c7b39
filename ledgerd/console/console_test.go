package console_test

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"idem/ledgerd/console"
)

func get(t *testing.T, method, target string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	console.Handler().ServeHTTP(w, r)
	return w
}

func source(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(path.Join("pages", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryFileIsServedUnderTheStrictPolicy(t *testing.T) {
	err := fs.WalkDir(os.DirFS("pages"), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		r := get(t, "GET", "/console/"+name)
		csp := r.Header().Get("Content-Security-Policy")
		if r.Code != http.StatusOK || !strings.Contains(csp, "default-src 'none'") || strings.Contains(csp, "unsafe") || r.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d, policy %q", name, r.Code, csp)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if r := get(t, "GET", "/"); r.Code != http.StatusOK || r.Header().Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("/: %d, %s", r.Code, r.Header().Get("Content-Type"))
	}
}

func TestAPageThatIsKeptIsAskedForAgain(t *testing.T) {
	first := get(t, "GET", "/console/main.js")
	again := get(t, "GET", "/console/main.js", "if-none-match", first.Header().Get("Etag"))
	if again.Code != http.StatusNotModified || first.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("%d, cache-control %q", again.Code, first.Header().Get("Cache-Control"))
	}
}

func TestOnlyPagesAreServedAndOnlyRead(t *testing.T) {
	for _, target := range []string{"/console/", "/console/none.js", "/console/../console.go", "/index.html", "/elsewhere"} {
		if r := get(t, "GET", target); r.Code != 404 {
			t.Errorf("%s: %d, want 404", target, r.Code)
		}
	}
	if r := get(t, "POST", "/"); r.Code != 405 || r.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST /: %d", r.Code)
	}
}

// The policy forbids what would make data into markup or code; a page that tried would break in silence.
func TestThePagesNeedNothingThatThePolicyForbids(t *testing.T) {
	html := source(t, "index.html")
	for name, forbidden := range map[string]string{
		"inline script": `<script[^>]*>[^<]`, "inline style": `<style|\sstyle=`, "inline handler": `\son[a-z]+=`, "other origin": `(src|href)="(https?:)?//`,
	} {
		if found := regexp.MustCompile(forbidden).FindString(html); found != "" {
			t.Errorf("index.html has an %s: %s", name, found)
		}
	}
	scripts, err := fs.Glob(os.DirFS("pages"), "*.js")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, name := range scripts {
		if found := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|\.style\b|setAttribute\('style`).FindString(source(t, name)); found != "" {
			t.Errorf("%s uses %s", name, found)
		}
	}
}

func TestTheScriptsFindTheirElementsAndModules(t *testing.T) {
	html := source(t, "index.html")
	scripts, err := fs.Glob(os.DirFS("pages"), "*.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		text := source(t, name)
		for _, m := range regexp.MustCompile(`byId\('([^']+)'\)`).FindAllStringSubmatch(text, -1) {
			if !strings.Contains(html, `id="`+m[1]+`"`) {
				t.Errorf("%s wants the element %s, which index.html has not", name, m[1])
			}
		}
		for _, m := range regexp.MustCompile(`import \{([^}]*)\} from '\./([^']+)'`).FindAllStringSubmatch(text, -1) {
			module := source(t, m[2])
			for _, imported := range strings.Split(m[1], ",") {
				exported := regexp.MustCompile(`export (async )?(function|const|class|let) ` + strings.TrimSpace(imported) + `\b`)
				if !exported.MatchString(module) {
					t.Errorf("%s imports %s from %s, which does not export it", name, strings.TrimSpace(imported), m[2])
				}
			}
		}
	}
}

// Good news looks like good news, says what comes next, and is in nobody's way.
func TestNoticesTellGoodFromBadAndCoverNothing(t *testing.T) {
	css := source(t, "style.css")
	if !strings.Contains(css, "#notice.good-news { border-color: var(--good); }") {
		t.Error("good news is in the colour of what is wrong")
	}
	if !regexp.MustCompile(`(?s)@media \(max-width: 78rem\) \{\s*#notice \{ position: static;`).MatchString(css) {
		t.Error("on a narrow screen the notice lies over the buttons")
	}
	for name, parts := range map[string][]string{
		"main.js": {"addEventListener('hashchange', () => { hideNotice(); route(); });"}, "holds.js": {"done.next, true"}, "doubts.js": {"done.next, true"},
	} {
		for _, part := range parts {
			if !strings.Contains(source(t, name), part) {
				t.Errorf("%s lacks %s", name, part)
			}
		}
	}
	if html := source(t, "index.html"); strings.Index(html, `id="notice"`) < strings.Index(html, "<main") || strings.Index(html, `id="notice"`) > strings.Index(html, `id="view-live"`) {
		t.Error("where it stands in the page, the notice does not stand above the view")
	}
}

func TestTheExplainPageShowsItsErrorsBesideTheButtonAndLetsARuleBeChosen(t *testing.T) {
	html := source(t, "index.html")
	if !regexp.MustCompile(`<button class="main">Explain</button><span id="explain-error"`).MatchString(html) || !strings.Contains(html, `<select id="explain-rule">`) {
		t.Error("no place for errors beside the button, or no chooser of rules")
	}
	script := source(t, "explain.js")
	for _, part := range []string{"byId('explain-fields').open = true", "chooser.selectedIndex = 0", "get('/api/rules')"} {
		if !strings.Contains(script, part) {
			t.Errorf("explain.js lacks %s", part)
		}
	}
}

func TestHeadingsSayWhatStandsUnderThem(t *testing.T) {
	text := source(t, "index.html") + source(t, "holds.js") + source(t, "doubts.js")
	if found := regexp.MustCompile(`>(of|after|sent)</th>|\['(granted|which is|and arrived|may repeat)',`).FindString(text); found != "" {
		t.Errorf("a heading that says little: %s", found)
	}
	if log := source(t, "log.js"); !strings.Contains(log, "make('td', { class: 'quiet' }, tool || '–')") {
		t.Error("a line of the log that is no arrival does not name its tool")
	}
}
