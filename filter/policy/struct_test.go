package policy

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
)

// asStruct gives a JSON configuration as Envoy hands over a google.protobuf.Struct.
func asStruct(t *testing.T, text string) []byte {
	t.Helper()
	var s structpb.Struct
	if err := s.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	data, err := proto.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestStructIsReadAsTheJSONThatItSays(t *testing.T) {
	const text = `{"ledger":{"cluster":"ledgerd","timeout":"2s"},"execute":{"cluster":"idem-execute"},"calls":[{
		"match":{"path_prefix":"/tools/"},"max_result_bytes":4096,"symbols":{"$":null},
		"failures":{"unknown":[503],"strict":true},"run":[{"header":"x-run"}]}]}`
	want, err := Parse([]byte(text), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	got, err := Parse(asStruct(t, text), func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []*Config{want, got} {
		for _, rule := range c.Calls {
			rule.Canon = nil // what it was made of is compared
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the Struct is read as %+v, the JSON as %+v", got.Calls[0], want.Calls[0])
	}
}

func TestMistakeInAStructNamesItsPointer(t *testing.T) {
	_, err := Parse(asStruct(t, `{"ledger":{"cluster":"l"},"execute":{"cluster":"e"},"calls":[{"match":{"path":"/a"},"lease":1.5}]}`), func(string) string { return "" })
	if err == nil || !strings.Contains(err.Error(), "/calls/0/lease") {
		t.Errorf("refused with %v", err)
	}
}

func TestJSONThatBeginsLikeAStructIsJSON(t *testing.T) {
	for _, text := range []string{"\n{\"ledger\":{\"cluster\":\"l\"},\"execute\":{\"cluster\":\"e\"},\"calls\":[{\"match\":{\"path\":\"/a\"}}]}", "\n\n{}", "\n"} {
		if _, ok := readStruct([]byte(text)); ok {
			t.Errorf("%q is read as a Struct", text)
		}
	}
}

func FuzzStruct(f *testing.F) {
	f.Add([]byte("\n\x08\n\x01a\x12\x03\x1a\x01b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var s structpb.Struct
		if _, ok := readStruct(data); ok && proto.Unmarshal(data, &s) != nil {
			t.Errorf("%q is read as a Struct, which it is not", data)
		}
	})
}
