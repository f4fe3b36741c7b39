package canon

import "idem/canon/money"

// known is what a member's name means to the canonical form, whatever its key style.
type known uint8

// The names that mean something. The volatile ones come first: see volatiles.
const (
	unknown known = iota
	idempotencyKey
	traceID
	spanID
	traceparent
	tracestate
	correlationID
	requestID
	timestamp
	runID
	toolCallID
	progressToken
	baggage

	bag // metadata, meta, context, headers: what is said about the call
	amountName
	minorName // amount_minor
	centsName // amount_cents
	valueName
	currencyName
	moneyName
	inMinorName  // price_cents: a money field whose text must not name the major unit
	verbatimName // password, pattern: a text that is meant to the letter
	// The default customers, in the order of preference.
	customer
	customerID
	recipient
	userID
	email

	lastVolatile = baggage
)

// isAmount says whether a name is that of the field amount, which an object has once.
func (k known) isAmount() bool { return k == amountName || k == minorName || k == centsName }

// isMoney says whether a name is that of a money field, wherever it stands.
func (k known) isMoney() bool { return k.isAmount() || k == moneyName || k == inMinorName }

// isCustomer says whether a name is one of the default customers.
func (k known) isCustomer() bool { return customer <= k && k <= email }

// longestName bounds what fold looks at: no longer name is known.
const longestName = 40

// fold appends the name without its key style: request_id, requestId, Request-Id and REQUEST_ID become requestid. It
// gives nil for a name that is not of ASCII, or that is longer than every known one.
func fold(dst []byte, name string) []byte {
	if len(name) > longestName {
		return nil
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '_' || c == '-':
			continue
		case c >= 0x80:
			return nil
		}
		dst = append(dst, c)
	}
	return dst
}

// know gives what a name means. The volatile names are those that agents, their frameworks and their transports make
// anew for every call: OpenAI and Anthropic tool calls, LangChain and LangGraph runs, MCP progress tokens, W3C trace
// context, B3, AWS and Google traces, the idempotency keys of Stripe, Square, AWS and PayPal.
func know(name string) known {
	var space [longestName]byte
	folded := fold(space[:0], name)
	if folded == nil {
		return knowMoney(name)
	}
	switch string(folded) {
	case "idempotencykey", "xidempotencykey", "idempotencytoken", "clientrequesttoken", "paypalrequestid":
		return idempotencyKey
	case "traceid", "xtraceid", "xb3traceid", "xamzntraceid", "xcloudtracecontext", "sentrytrace":
		return traceID
	case "spanid", "xspanid", "parentspanid", "xb3spanid", "xb3parentspanid":
		return spanID
	case "traceparent":
		return traceparent
	case "tracestate":
		return tracestate
	case "correlationid", "xcorrelationid":
		return correlationID
	case "requestid", "xrequestid":
		return requestID
	case "timestamp":
		return timestamp
	case "runid":
		return runID
	case "toolcallid", "tooluseid":
		return toolCallID
	case "progresstoken":
		return progressToken
	case "baggage":
		return baggage
	case "metadata", "meta", "context", "headers":
		return bag
	case "amount":
		return amountName
	case "customer":
		return customer
	case "customerid":
		return customerID
	case "recipient":
		return recipient
	case "userid":
		return userID
	case "email":
		return email
	}
	return knowMoney(name)
}

// knowMoney asks package money what a name means.
func knowMoney(name string) known {
	switch money.ClassOf(name) {
	case money.NameAmount:
		return moneyName
	case money.NameMinor:
		return minorName
	case money.NameCents:
		return centsName
	case money.NameValue:
		return valueName
	case money.NameInMinor:
		return inMinorName
	case money.NameCurrency:
		return currencyName
	case money.NameVerbatim:
		return verbatimName
	default:
		return unknown
	}
}

// words calls yield with each word of a name, in lower case, until it gives false: approve_request, approveRequest and
// Approve-Request have the words approve and request. Words are of ASCII letters and digits.
func words(name string, yield func(word []byte) bool) {
	var space [longestName]byte
	for i := 0; i < len(name); {
		word := space[:0]
		start := i
		switch {
		case isLower(name[i]):
			for i < len(name) && isLower(name[i]) {
				i++
			}
		case isUpper(name[i]):
			for i < len(name) && isUpper(name[i]) {
				i++
			}
			if i < len(name) && isLower(name[i]) {
				if i > start+1 {
					i-- // HTTPTrace: the last capital begins the next word
				} else {
					for i < len(name) && isLower(name[i]) {
						i++
					}
				}
			}
		default:
			i++
			continue
		}
		if i-start > longestName {
			continue
		}
		for _, c := range []byte(name[start:i]) {
			if isUpper(c) {
				c += 'a' - 'A'
			}
			word = append(word, c)
		}
		if !yield(word) {
			return
		}
	}
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
