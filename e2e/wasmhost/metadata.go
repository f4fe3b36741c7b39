package wasmhost

import (
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"strings"
)

// routeMetadata is where get_property finds the metadata of a stream's route.
const routeMetadata = "xds.route_metadata.filter_metadata"

// metadata finds what get_property asks for of the route's metadata. is: it asks for that. Measured on Envoy 1.40: a
// text is given as its bytes, a number as its eight, a truth value as one; an object and a list as pairs, names and
// values likewise, the names of a list being its indices, eight bytes each. Null cannot be given, and neither can what
// it is in.
func (c *scope) metadata(path string) (value []byte, st status, is bool) {
	rest, is := strings.CutPrefix(path, routeMetadata)
	if !is {
		return nil, ok, false
	}
	if c.stream == nil {
		return nil, notFound, true
	}
	var at any = c.stream.route
	for rest != "" {
		name, more, _ := strings.Cut(rest[1:], ".")
		if rest = ""; more != "" {
			rest = "." + more
		}
		object, _ := at.(map[string]any)
		var there bool
		if at, there = object[name]; !there {
			return nil, notFound, true
		}
	}
	value, fine := serialized(at)
	if !fine {
		return nil, serializationFailure, true
	}
	return value, ok, true
}

func serialized(value any) (bytes []byte, ok bool) {
	number := func(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }
	switch v := value.(type) {
	case string:
		return []byte(v), true
	case bool:
		if v {
			return []byte{1}, true
		}
		return []byte{0}, true
	case int:
		return number(float64(v)), true
	case float64:
		return number(v), true
	case map[string]any:
		pairs := Headers{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			member, fine := serialized(v[name])
			if !fine {
				return nil, false
			}
			pairs = append(pairs, [2]string{name, string(member)})
		}
		return marshalPairs(pairs), true
	case []any:
		pairs := Headers{}
		for i, item := range v {
			one, fine := serialized(item)
			if !fine {
				return nil, false
			}
			index := binary.LittleEndian.AppendUint64(nil, uint64(i))
			pairs = append(pairs, [2]string{string(index), string(one)})
		}
		return marshalPairs(pairs), true
	}
	return nil, false
}
