package main

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

	"idem/filter/exchange"
	"idem/filter/policy"
)

// passing is the reply to a stream that executes its own call, gathered as it passes.
type passing struct {
	reply exchange.HTTPReply
	limit int64 // bytes of the body that are kept
}

func newPassing(c *exchange.Call) *passing { return &passing{limit: c.MostPassing()} }

// OnHttpResponseHeaders takes down how the reply began and tells the caller of the call.
func (s *stream) OnHttpResponseHeaders(_ int, endOfStream bool) types.Action {
	defer recovered("OnHttpResponseHeaders")
	if s.replied {
		s.keepType()
		return types.ActionContinue
	}
	if s.passing == nil {
		return types.ActionContinue
	}
	headers, err := proxywasm.GetHttpResponseHeaders()
	if err != nil {
		s.plugin.host.Warn("the headers of a reply cannot be read: " + err.Error())
		return types.ActionContinue
	}
	reply := &s.passing.reply
	for _, h := range headers {
		if h[0] == ":status" {
			reply.Status, _ = strconv.Atoi(h[1])
		}
	}
	tools := slices.DeleteFunc(slices.Clone(headers), func(h [2]string) bool { return strings.HasPrefix(h[0], "x-idem-") })
	reply.Headers = append(tools, howItEnded()...)
	if s.call.Rule.Mode != policy.Shadow {
		s.tellBeginning(headers)
	}
	if endOfStream {
		s.call.StreamEnded(*reply)
	}
	return types.ActionContinue
}

// tellBeginning writes our headers onto a reply that streams past, in place of a tool's that look like them or like the
// proxy's.
func (s *stream) tellBeginning(headers [][2]string) {
	for _, h := range headers {
		if soundsLikeOurs(h[0]) {
			_ = proxywasm.RemoveHttpResponseHeader(h[0])
		}
	}
	told := s.call.StreamBegan(s.passing.reply)
	for _, h := range told.Headers {
		_ = proxywasm.AddHttpResponseHeader(h[0], h[1])
	}
	s.tellLogs(told)
}

// soundsLikeOurs says whether a header of a tool's would pass for Idem's or for the proxy's.
func soundsLikeOurs(name string) bool {
	return exchange.SoundsLikeIdem(name) || policy.ProxyHeader(name)
}

// dropTrailers removes the trailers that pass for what they are not.
func dropTrailers(get func() ([][2]string, error), remove func(string) error, passes func(string) bool) {
	trailers, err := get()
	if err != nil {
		return
	}
	for _, h := range trailers {
		if passes(h[0]) {
			_ = remove(h[0])
		}
	}
}

// OnHttpResponseBody keeps the piece of the body that passes.
func (s *stream) OnHttpResponseBody(size int, endOfStream bool) types.Action {
	defer recovered("OnHttpResponseBody")
	if s.passing == nil || s.replied {
		return types.ActionContinue
	}
	reply := &s.passing.reply
	switch {
	case size == 0 || reply.Unread:
	case int64(len(reply.Body)+size) > s.passing.limit || !s.call.KeepReply(size):
		reply.Body, reply.Unread = nil, true
		s.call.StreamPassed(reply)
	default:
		piece, err := proxywasm.GetHttpResponseBody(0, size)
		if err != nil {
			s.plugin.host.Warn("the body of a reply cannot be read: " + err.Error())
			reply.Status = 0 // what was read is not the reply
		}
		reply.Body = append(reply.Body, piece...)
		s.call.StreamPassed(reply)
	}
	if endOfStream {
		s.call.StreamEnded(*reply)
	}
	return types.ActionContinue
}

// OnHttpResponseTrailers ends a reply with trailers: end of stream never comes with its body.
func (s *stream) OnHttpResponseTrailers(int) types.Action {
	defer recovered("OnHttpResponseTrailers")
	if s.passing == nil || s.replied {
		return types.ActionContinue
	}
	if s.call.Rule.Mode != policy.Shadow {
		dropTrailers(proxywasm.GetHttpResponseTrailers, proxywasm.RemoveHttpResponseTrailer, soundsLikeOurs)
	}
	s.call.StreamEnded(s.passing.reply)
	return types.ActionContinue
}

// howItEnded gives what the execution listener writes on its replies, for a stream that takes its own route: the
// response flags, how the reply came about, and the number of attempts.
func howItEnded() [][2]string {
	details, _ := proxywasm.GetProperty([]string{"response", "code_details"})
	attempts := "-"
	if n, ok := number([]string{"upstream", "request_attempt_count"}); ok {
		attempts = strconv.FormatUint(n, 10)
	}
	flags, _ := number([]string{"response", "flags"})
	return [][2]string{{"x-idem-details", string(details)}, {"x-idem-flags", flagNames(flags)}, {"x-idem-attempts", attempts}}
}

// number reads an integer attribute: eight bytes, little endian.
func number(path []string) (uint64, bool) {
	value, err := proxywasm.GetProperty(path)
	if err != nil || len(value) != 8 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(value), true
}

// flagNames gives the response flags of a bit set in the words of %RESPONSE_FLAGS% (Envoy's CoreResponseFlag, by bit).
// Of those that cannot mean "not sent" it is enough that there are any; NC, whose bit moved between versions, is among
// them, so that a call without a cluster is in doubt here.
func flagNames(flags uint64) string {
	known := []struct {
		bit  uint
		name string
	}{{1, "UH"}, {4, "UR"}, {5, "UF"}, {7, "UO"}, {8, "NR"}}
	var names []string
	for _, f := range known {
		if flags&(1<<f.bit) != 0 {
			names = append(names, f.name)
			flags &^= 1 << f.bit
		}
	}
	if flags != 0 {
		names = append(names, "other")
	}
	return strings.Join(names, ",")
}
