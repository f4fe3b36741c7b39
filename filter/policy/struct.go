package policy

import (
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// A configuration that Envoy is given as a google.protobuf.Struct reaches the filter as that message's own bytes
// (google/protobuf/struct.proto), not as JSON. Its numbers are doubles.

// The fields of struct.proto.
const (
	structFields = 1 // Struct.fields, a map: entries of key and value
	entryKey     = 1
	entryValue   = 2
	valueNull    = 1
	valueNumber  = 2
	valueString  = 3
	valueBool    = 4
	valueStruct  = 5
	valueList    = 6
	listValues   = 1 // ListValue.values
)

// readStruct reads a whole Struct. ok is false where the bytes are anything else: JSON never reads as one, because the
// only byte that both may begin with, a newline, must be followed by a length and a field's tag here.
func readStruct(data []byte) (root *node, ok bool) {
	if len(data) == 0 {
		return nil, false
	}
	return structNode(data, 0)
}

func structNode(data []byte, depth int) (*node, bool) {
	n := &node{kind: '{'}
	ok := depth <= maxDepth && eachField(data, func(field protowire.Number, kind protowire.Type, entry []byte) bool {
		if field != structFields || kind != protowire.BytesType {
			return false
		}
		m := member{}
		whole := eachField(entry, func(field protowire.Number, kind protowire.Type, content []byte) (ok bool) {
			switch {
			case kind != protowire.BytesType:
				return false
			case field == entryKey:
				m.name = string(content)
				return utf8.Valid(content)
			case field == entryValue:
				m.value, ok = valueNode(content, depth+1)
				return ok
			}
			return false
		})
		n.members = append(n.members, m)
		return whole && m.value != nil
	})
	return n, ok
}

func valueNode(data []byte, depth int) (n *node, ok bool) {
	ok = depth <= maxDepth && eachField(data, func(field protowire.Number, kind protowire.Type, content []byte) (ok bool) {
		switch {
		case field == valueNull && kind == protowire.VarintType:
			n = &node{kind: 'n'}
		case field == valueNumber && kind == protowire.Fixed64Type:
			bits, _ := protowire.ConsumeFixed64(content)
			n = &node{kind: '0', text: strconv.FormatFloat(math.Float64frombits(bits), 'f', -1, 64)}
		case field == valueString && kind == protowire.BytesType && utf8.Valid(content):
			n = &node{kind: '"', text: string(content)}
		case field == valueBool && kind == protowire.VarintType:
			n = &node{kind: 'f'}
			if is, _ := protowire.ConsumeVarint(content); is != 0 {
				n.kind = 't'
			}
		case field == valueStruct && kind == protowire.BytesType:
			n, ok = structNode(content, depth)
			return ok
		case field == valueList && kind == protowire.BytesType:
			n, ok = listNode(content, depth)
			return ok
		default:
			return false
		}
		return true
	})
	return n, ok && n != nil
}

func listNode(data []byte, depth int) (*node, bool) {
	n := &node{kind: '['}
	ok := eachField(data, func(field protowire.Number, kind protowire.Type, content []byte) bool {
		if field != listValues || kind != protowire.BytesType {
			return false
		}
		item, ok := valueNode(content, depth+1)
		n.items = append(n.items, item)
		return ok
	})
	return n, ok
}

// eachField gives each field of a message: the content of a length-delimited one, the bytes of any other. It ends, and
// is false, where do is false or the message is broken.
func eachField(data []byte, do func(field protowire.Number, kind protowire.Type, content []byte) bool) bool {
	for len(data) > 0 {
		field, kind, tag := protowire.ConsumeTag(data)
		if tag < 0 {
			return false
		}
		size := protowire.ConsumeFieldValue(field, kind, data[tag:])
		if size < 0 {
			return false
		}
		content := data[tag : tag+size]
		if kind == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(content)
		}
		if !do(field, kind, content) {
			return false
		}
		data = data[tag+size:]
	}
	return true
}
