package main

import (
	"errors"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/filter/policy"
)

// What Envoy knows of a stream beside its headers and body: the properties that a rule may go by.

// metadata gives a text of the stream's dynamic metadata, where jwt_authn leaves the claims that it verified.
func metadata(path []string) string {
	value, err := proxywasm.GetProperty(append([]string{"metadata", "filter_metadata"}, path...))
	if err != nil {
		return ""
	}
	return string(value)
}

// readRoute reads what the route says for Idem: its filter_metadata.idem.
func (s *stream) readRoute() (mistake *policy.Mistake) {
	members, err := proxywasm.GetPropertyMap([]string{"xds", "route_metadata", "filter_metadata", "idem"})
	switch {
	case errors.Is(err, types.ErrorStatusNotFound):
		return nil
	case err != nil: // of the kinds of values, null alone
		return &policy.Mistake{Detail: "has a value that cannot be read; rule and mode are texts, or are left out"}
	}
	s.route, mistake = s.plugin.config.Route(members)
	return mistake
}

// certificate gives a part of the certificate that the peer has shown.
func certificate(part string) string {
	name := part + "_peer_certificate"
	if part == "sha256" {
		name += "_digest"
	}
	value, err := proxywasm.GetProperty([]string{"connection", name})
	if err != nil {
		return ""
	}
	return string(value)
}
