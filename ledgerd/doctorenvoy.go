package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// object is a message of Envoy's configuration as its admin interface writes it in JSON.
type object = map[string]any

// fetchDump reads the configuration that an Envoy runs with.
func fetchDump(ctx context.Context, admin string, timeout time.Duration) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(admin, "/")+"/config_dump?include_eds", nil)
	if err != nil {
		return nil, fmt.Errorf("--envoy-admin %q: %w", admin, err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, fmt.Errorf("admin interface of Envoy at %s cannot be reached: %w", admin, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s/config_dump answered %s: is it Envoy's admin interface?", admin, response.Status)
	}
	const most = 256 << 20
	var dump any
	if err := json.NewDecoder(io.LimitReader(response.Body, most)).Decode(&dump); err != nil {
		return nil, fmt.Errorf("%s/config_dump: %w", admin, err)
	}
	return dump, nil
}

// findObjects gives the objects of a document that a question is true of, outermost first.
func findObjects(doc any, is func(object) bool) (found []object) {
	switch v := doc.(type) {
	case object:
		if is(v) {
			return []object{v}
		}
		for _, name := range sortedKeys(v) {
			found = append(found, findObjects(v[name], is)...)
		}
	case []any:
		for _, item := range v {
			found = append(found, findObjects(item, is)...)
		}
	}
	return found
}

// text gives the string at a path of names; empty where there is none.
func text(o object, path ...string) string {
	for _, name := range path[:len(path)-1] {
		o, _ = o[name].(object)
	}
	s, _ := o[path[len(path)-1]].(string)
	return s
}
