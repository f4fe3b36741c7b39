package canon

import "slices"

// place says where an object stands, which decides what is volatile among its members.
type place uint8

const (
	beside   place = 1 << iota // beside the args: the object that holds the args, and in it tool and run
	top                        // the args themselves
	inBag                      // in an object named metadata, meta, _meta, context or headers
	inner                      // anywhere else
	inMCP                      // in MCP arguments, whose schema is the tool's
	inAnswer                   // in what continues an MCP call: it counts whole
)

// into gives the place of what stands in a member of that name, or in an array.
func (at place) into(name known) place {
	switch {
	case at == inMCP, at == inAnswer:
		return at
	case name == bag:
		return inBag
	default:
		return inner
	}
}

const anywhere = beside | top | inBag | inner | inMCP

// volatiles says of each volatile name where it is dropped, and by which word in the tool's name it is kept.
var volatiles = [lastVolatile + 1]struct {
	noun   string
	places place
}{
	idempotencyKey: {"idempotency", anywhere},
	traceID:        {"trace", anywhere},
	spanID:         {"span", anywhere},
	traceparent:    {"traceparent", anywhere},
	tracestate:     {"tracestate", anywhere},
	correlationID:  {"correlation", anywhere},
	requestID:      {"request", beside | top | inBag},
	timestamp:      {"timestamp", beside | top | inBag},
	runID:          {"run", beside | inBag},
	toolCallID:     {"call", beside | inBag},
	progressToken:  {"progress", beside | inBag},
	baggage:        {"baggage", inBag},
}

// nouns gives the set of volatile names whose noun is a word of a tool's name or of a path, singular or plural: those
// stay.
func nouns(text string) (kept uint32) {
	words(text, func(word []byte) bool {
		for name := idempotencyKey; name <= lastVolatile; name++ {
			noun := volatiles[name].noun
			if string(word) == noun || len(word) == len(noun)+1 && word[len(noun)] == 's' && string(word[:len(noun)]) == noun {
				kept |= 1 << name
			}
		}
		return true
	})
	return kept
}

// dropVolatile marks what is volatile in a value, and says whether nothing of it is left. An object of which nothing
// would be left stays as it is, unless what holds it drops it as a whole.
func (r *reading) dropVolatile(i int32, at place) (emptied bool) {
	v := &r.values[i]
	switch v.kind {
	case '[':
		in := at.into(unknown)
		for c := i + 1; c < v.next; c = r.values[c].next {
			if r.values[c].kind == '{' || r.values[c].kind == '[' {
				r.dropVolatile(c, in)
			}
		}
	case '{':
		members, left := 0, 0
		for c := i + 1; c < v.next; c = r.values[c].next {
			m := &r.values[c]
			if m.gone != counts { // the tool, the run, the args
				continue
			}
			members++
			if r.continues(c) {
				left++
				continue
			}
			if r.isVolatile(m, at) {
				m.gone, r.drops = volatile, true
				continue
			}
			if m.kind == '{' || m.kind == '[' {
				if r.dropVolatile(c, at.into(m.known)) && m.known == bag {
					m.gone = volatile
					continue
				}
			}
			left++
		}
		if members == 0 || left > 0 {
			break
		}
		if at != beside {
			r.keepAll(i)
		}
		return true
	}
	return false
}

// continues says whether a value is what makes an MCP call the continuation of another: inputResponses or requestState.
func (r *reading) continues(i int32) bool {
	m := &r.values[i]
	return r.rule.Protocol == MCP && m.parent == r.beside && (m.name == "inputResponses" || m.name == "requestState")
}

// isVolatile decides by a member's name and place.
func (r *reading) isVolatile(m *value, at place) bool {
	if drop, ruled := r.rule.ruled(m.name); ruled {
		return drop
	}
	return m.known != unknown && m.known <= lastVolatile &&
		volatiles[m.known].places&at != 0 && r.nouns&(1<<m.known) == 0
}

// keepAll takes back what was marked volatile among the members of an object.
func (r *reading) keepAll(i int32) {
	for c := i + 1; c < r.values[i].next; c = r.values[c].next {
		if r.values[c].gone == volatile {
			r.values[c].gone = counts
		}
	}
}

// ruled says what a rule's own names decide about a field: dropped or kept, anywhere.
func (r *rule) ruled(name string) (drop, ruled bool) {
	if len(r.drop) == 0 && len(r.keep) == 0 {
		return false, false
	}
	var space [longestName]byte
	folded := string(fold(space[:0], name))
	if folded == "" {
		return false, false
	}
	drop = slices.Contains(r.drop, folded)
	return drop, drop || slices.Contains(r.keep, folded)
}
