package main

import (
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
)

// howItEnded gives what the execution listener writes on its replies, for a stream that takes its own route: the
// response flags, how the reply came about, and the number of attempts.
func howItEnded() [][2]string {
	details, _ := proxywasm.GetProperty([]string{"response", "code_details"})
	attempts := "-"
	if n, ok := number([]string{"upstream", "request_attempt_count"}); ok {
		attempts = strconv.FormatUint(n, 10)
	}
	flags, _ := number([]string{"response", "flags"})
	if attempts == "1" {
		flags &^= retriesOver // it was told to make one, where its route would have made more
	}
	return [][2]string{{"x-idem-details", string(details)}, {"x-idem-flags", flagNames(flags)}, {"x-idem-attempts", attempts}}
}

// retriesOver is the response flag URX: a retry was called for, and none was left.
const retriesOver = 1 << 15

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
