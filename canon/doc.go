// Package canon gives every tool call one canonical form, a fingerprint of it, and an explanation of what was done.
//
// Two calls that mean the same get the same fingerprint however they are spelled; two calls that may mean something
// else never do. Where neither is certain, the package keeps them apart: what a caller then loses is a duplicate that
// is not recognized, never an order. The same code runs in the filter, in ledgerd and in the command line.
//
// The package reads one HTTP request and holds no state. It bounds no body's size: its caller does. It never sends
// anything on: the canonical form serves identity, and people are shown what was written. What amounts of money look
// like is the matter of package money.
//
// # What is hashed
//
// The canonical action is one JSON document, in the form of RFC 8785 but for its numbers:
//
//	{"args": …,                      the args
//	 "beside": {…},                  what stands beside the args and counts, if anything does
//	 "endpoint": {"conditions": {"if-match": …}, "host": …, "method": …, "path": …, "query": …, "rule": …, "tool": …},
//	 "for": {"stripe-account": …},   the headers that say for whom, those that the call has
//	 "form": [name, …],              the order of the fields of a form's lists, where it says to which element each belongs
//	 "key": "9f86d081",              the id of the key, if there is one
//	 "scope": "…",                   a digest of who calls, if anything says so
//	 "settings": "…",                a digest of the rule's settings
//	 "version": 1}
//
// The fingerprint is its HMAC-SHA-256 (RFC 2104, FIPS 180-4) under the deployment's key, or its SHA-256 without one, in
// hex. Version counts the changes of meaning; settings that are at their default, spelled or not, and lists whose order
// means nothing do not change the digest of the settings.
//
// The intent is the same digest of
//
//	{"amount": …, "customer": …, "for": {…}, "key": …, "scope": …, "settings": …, "tool": …, "version": 1}
//
// so calls to one tool for one customer and amount are of one intent, whatever else they ask for. (Where the path may
// say what is done with the tool, "path" stands there too; see below.) It is the fingerprint itself where customer or
// amount is missing.
//
// # Bodies
//
// JSON is read strictly: RFC 8259 with the demands of I-JSON (RFC 7493). It is UTF-8 without a byte order mark and
// without lone surrogates; no name stands twice in an object, however it is escaped; nothing stands behind the value.
// MaxDepth, MaxExponent, MaxNumber and MaxValues bound what a body may hold. Everything else is malformed_body, with
// the byte and the JSON pointer (RFC 6901) where reading ended.
//
//   - Names are sorted by their UTF-16 code units (RFC 8785, section 3.2.3), at every depth. Arrays keep their order.
//     null is not absent.
//   - Numbers are exact decimals of any length: 1, 1.0 and 1e0 are one, 9007199254740993 and 9007199254740992 are two.
//     They are laid out as ECMAScript lays out numbers (RFC 8785, section 3.2.2.3), with every digit kept. Zero has no
//     sign. A number is never a text of its digits. What would have an exponent beyond MaxExponent has its point moved
//     instead (10e+400), so that it can be read again.
//   - Strings are kept to the letter: case, white space and Unicode form count. Only escapes do not.
//
// A form (application/x-www-form-urlencoded, by the URL Standard) becomes an object of strings, a repeated name an
// array in order. Escapes are two hex digits that give UTF-8; an empty form is refused. Where several names stand in one
// list, as PHP and Rack write it (items[][sku] and items[][qty]), their order among each other counts too, unless the
// rule lists identity.
//
// An MCP body is one JSON-RPC tools/call message: params.name is the tool, params.arguments the args, none are {}. The
// message's id and params._meta do not count. The other params do: inputResponses and requestState make a continuation
// another call than the one that it continues, and count whole: nothing in them is volatile, and requestState is never
// an address nor money. A batch is refused, and so is a message with a member of its own, or a tool's name or
// arguments, in other letter case (Method, Arguments): many servers read those as if they were the ones meant.
//
// Under JSON, application/json and every +json are read; a call with neither body nor media type has no args. A charset
// other than UTF-8, a content coding and any other media type are unsupported_media_type.
//
// # Tool, args, run
//
// Settings say where tool, args and run are. By default
//
//   - the args are the body's member args, else the whole body,
//   - the tool is the member tool, if it is a text that is not empty, else the last segment of the path,
//   - the run is the header x-idem-run, else, where the body has args, its member runId or run_id.
//
// Where a rule takes the tool from the body, and where tool and args stand there by convention, the tool stands instead
// of the path. A body that has a member tool and no args keeps both, because the path may say what is done with that
// tool: renting out a drill is not taking it back. Whatever may name the run is no part of the action.
//
// A rule for several paths, such as a prefix, counts the path in any case: two servers behind one prefix may both have a
// tool of that name.
//
// Of a path, percent escapes have one form (RFC 3986, section 6.2.2). The query is sorted by name; equal names, and
// names in one list such as items[][sku] and items[][qty], keep their order, and a plus sign is no space. The host is
// in lower case, without the dot of the root and without port 80 or 443; another port is another server. Headers by
// which a request asks for another thing than its method and body say count too: if-match and its kin (RFC 9110,
// section 13.1), and x-http-method-override and its kin. A query's volatile names count unless the rule drops them: for
// a call without a body the query is all there is.
//
// # Volatile fields
//
// Agents, frameworks and transports put values into a call that are new every time. These names, in any key style
// (request_id, requestId, Request-Id), do not count:
//
//	anywhere                   idempotency key or token, X-Idempotency-Key, client request token, PayPal-Request-Id;
//	                           trace id, X-Trace-Id, X-B3-TraceId, X-Amzn-Trace-Id, X-Cloud-Trace-Context, sentry-trace;
//	                           span id, parent span id, and their X-B3 forms; traceparent; tracestate;
//	                           correlation id, X-Correlation-Id
//	beside the args, at their  request id, X-Request-Id; timestamp
//	top level, in metadata
//	beside the args, in        run id; tool call id (OpenAI), tool use id (Anthropic); progress token (MCP)
//	metadata
//	in metadata                baggage
//
// "In metadata" means: as a direct member of an object named metadata, meta, _meta, context or headers. Below MCP
// arguments, whose schema is the tool's, only the names of the first line are volatile.
//
// Such a field counts all the same
//
//   - where the tool's name, or a path that counts, has its noun as a word, singular or plural: to approve_request,
//     request_id 17 and 18 are two things, and so they are to /requests/approve, and two trace ids to get-traces;
//   - where nothing would be left of its object. An object named like metadata then goes as a whole, if it is not
//     alone;
//   - where the rule keeps its name.
//
// A rule may add names, which are then dropped anywhere, in the query too. Where a rule lists identity, the args are an
// object of those pointers and their values; volatile fields that it lists count, and nothing beside the args does. A
// currency that it lists counts by its code, also where an amount that is not listed has taken it in; beside an amount
// of it that is listed too, it says nothing more.
//
// Names that merely look alike count: id, order_id, reference, created_at, thread_id, session_id. So do CloudEvents' id
// and time, which say which event it is; AWS's ClientToken and a call_id, because a token may be a client's and a call
// one by telephone; LangChain's config.run_id, because a config is the tool's own and may name the run to act on.
//
// # E-mail addresses
//
// A string that is one address and nothing else is put in lower case, ASCII letters only, so that neither U+0130 nor
// U+212A becomes another mailbox; its domain is written as IDNA writes it in ASCII (UTS 46, non-transitional). Plus
// tags and dots stay. An address here is a local part without quotes and a domain of two labels at least, the last of
// which begins with a letter, within the lengths of RFC 5321: lodash@4.17.21 is none. Names of members are never
// addresses.
//
// # What is meant to the letter
//
// An address and an amount have one form because people write them as they like. Some texts only look like that, and
// these stay as they are written:
//
//   - The text of a field whose name ends in the word password, passwd, pwd, passphrase, passcode, pin, otp, secret,
//     token, key, credential or signature, or in pattern, regex, regexp or replacement (where $1 and 12$ are no money),
//     singular or plural, in any key style; and what is in such a field, but for money fields and customers, which say
//     themselves what they are, and for fields that the rule says are money.
//   - Texts of one call that mean the same and are written differently, wherever they stand: replacing "$12.00" by
//     "$12" is not replacing "$12" by "$12.00", and so it is with old_email and new_email. Texts in money fields are
//     amounts all the same, and the customer's address is the customer's. What does not count has no say in this. A
//     currency beside them stays then, too.
//   - In a field that no name calls money, without a currency beside it, all spellings of money but the plain ones. PHP
//     8.1 and TOP 10 are not plain: their codes mean other things too.
//
// # Money
//
// An amount becomes {"amount_minor":1200,"currency":"USD"}, which takes in the currency beside it. Package money says
// which texts and names are money. In an object
//
//   - a text that is money is money in any field, in a plain spelling; in a money field and beside a currency in any
//     spelling; a bare number or numeric text is money in a money field beside a currency, in major units;
//     amount_minor and amount_cents are the field amount in minor units. The rule's money fields are what the rule
//     says, beside a currency or not;
//   - in a field that counts minor units (amount_minor, price_cents, a rule's) a text that names a major one ("1200
//     USD", "$12") may be meant either way, and stays as it is written. Digits alone and "1200 cents" are read;
//   - a number whose digits are more than 68 places from its decimal point (1e400) is none;
//   - value is a money field only in an object of a value and a currency: nothing else in it is a plain value;
//   - an object that is nothing but amount (or value) and currency is that amount itself: {"price":{"value":"5.00",
//     "currency":"EUR"}} is {"price":"5.00 EUR"}. The args themselves are not;
//   - the currency beside it is taken in where at least one amount was read with it, and nothing that looks like an
//     amount stayed raw: that one may still need it;
//   - two fields that are the amount, beside a currency, stay as they are written; where none is beside them, each is
//     read by itself and keeps its name. All money beside two currencies, or beside one that ISO 4217 does not list,
//     stays as it is written, too;
//   - texts in an array look at the currency beside the array, which then stays.
//
// # Customer and amount
//
// The customer is what the rule's pointers find first, else the args' member customer, customer_id, recipient, user_id
// or email, in this order and in any key style. null and the empty text are none. The amount is what the rule's
// pointers find first, else the money called amount, else the args' only money, else a number called amount together
// with the text beside it that names its currency, as for currencies that ISO 4217 does not list. Of two that are called
// amount (amount and Amount), neither is it.
//
// # Scope
//
// No caller is ever given another caller's result. By default the scope is a digest of authorization and x-api-key, or
// of cookie where neither is there; a rule names other sources, all of which count, or none. What is there several times
// counts as a whole, in its order: two headers of one name, and two cookies of one name or of names that some server
// takes for one (letter case, quotes, percent-encoding), since one of them may be another's. The digest is made with the
// deployment's key; credentials stand in nothing that this package gives away. A call that has none of the rule's
// sources is unstable_scope: it would share its results with every other such call. (A rule that wants that says none,
// or gives a value as its last source.) So are a claim, or a name in the peer's certificate, that the rule names and
// that nobody verified, and schemes whose credentials differ on every request: AWS signatures, Digest, DPoP, Hawk, MAC,
// HTTP Signature, Azure SharedKey, Negotiate, NTLM, and OAuth 1.0. Headers that are there and say nothing about who
// calls do not count, except stripe-account, x-org-id, x-tenant-id and those that the rule adds.
//
// # Cost
//
// A body is read once, into a tree that is reused, and written once, into the buffer that is hashed. What is allocated
// does not grow with the body, and the time grows with its size; sorting the names of one object adds a logarithm.
package canon
