package policy

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// node is one value of a JSON document. A nil node is a value that is not there.
type node struct {
	kind    jsontext.Kind // '{', '[', '"', '0', 't', 'f' or 'n'
	text    string        // of a string: its content; of a number: as it is written
	members []member      // of an object, in their order; a name may be there twice
	items   []*node       // of an array
}

// member is one name and value of an object.
type member struct {
	name  string
	value *node
}

// maxDepth is how deeply a configuration may be nested. The documented settings need seven levels.
const maxDepth = 64

var errDepth = errors.New("is nested too deeply; at most " + strconv.Itoa(maxDepth) + " levels")

// readDocument reads strict JSON (RFC 8259, UTF-8, one value), or a Struct. Duplicate names are kept, so that whoever
// reads the object can report them beside its other mistakes.
func readDocument(data []byte) (*node, *Mistake) {
	if root, ok := readStruct(data); ok {
		return root, nil
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, &Mistake{Detail: "is empty; give an object with ledger, execute and calls"}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true))
	root, err := readNode(dec, 0)
	if err == nil {
		if _, err = dec.ReadToken(); errors.Is(err, io.EOF) {
			return root, nil
		}
		if err == nil {
			return nil, &Mistake{Detail: "goes on after its end; give one JSON object"}
		}
	}
	return nil, syntaxMistake(err)
}

func readNode(dec *jsontext.Decoder, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDepth
	}
	tok, err := dec.ReadToken()
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	n := &node{kind: tok.Kind()}
	switch n.kind {
	case '"', '0':
		n.text = tok.String()
	case '{':
		for dec.PeekKind() != '}' {
			name, err := dec.ReadToken()
			if err != nil {
				return nil, err
			}
			key := name.String()
			value, err := readNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.members = append(n.members, member{key, value})
		}
		_, err = dec.ReadToken()
	case '[':
		for dec.PeekKind() != ']' {
			item, err := readNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err = dec.ReadToken()
	}
	return n, err
}

// syntaxMistake says where a document stops being JSON.
func syntaxMistake(err error) *Mistake {
	if errors.Is(err, errDepth) {
		return &Mistake{Detail: errDepth.Error()}
	}
	m := &Mistake{Detail: "is not JSON: it ends too early"}
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		m.Pointer = string(syntax.JSONPointer)
		m.Detail = "is not JSON (RFC 8259) at byte " + strconv.FormatInt(syntax.ByteOffset, 10)
		if syntax.Err != nil {
			m.Detail += ": " + syntax.Err.Error()
		}
	}
	return m
}

// String is the value as a mistake shows it.
func (n *node) String() string {
	switch {
	case n == nil:
		return ""
	case n.kind == '"':
		return quoted(n.text)
	case n.kind == '0':
		if len(n.text) > shownBytes {
			return n.text[:shownBytes] + "…"
		}
		return n.text
	case n.kind == 't':
		return "true"
	case n.kind == 'f':
		return "false"
	case n.kind == 'n':
		return "null"
	case n.kind == '{' && len(n.members) == 0:
		return "{}"
	case n.kind == '{':
		return "{…}"
	case len(n.items) == 0:
		return "[]"
	default:
		return "[…]"
	}
}

// kindName says what a value is, with its article.
func (n *node) kindName() string {
	switch n.kind {
	case '"':
		return "a text"
	case '0':
		return "a number"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '{':
		return "an object"
	default:
		return "a list"
	}
}

// child is the pointer of a member (RFC 6901 section 3).
func child(pointer, name string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// item is the pointer of an array's item.
func item(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }
