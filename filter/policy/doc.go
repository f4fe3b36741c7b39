// Package policy reads the filter's plugin configuration and says which rule holds for a call.
//
// It promises that a configuration is understood whole or refused whole: an unknown setting, a value of the wrong
// kind, a value out of its bounds, a setting given twice or a variable that is not set refuses it, and the [*Error]
// lists every mistake with its JSON pointer (RFC 6901), the value, and what would be right. It reads no body and
// decides no call: what a call is, package canon says; what happens to it, the ledger and the filter.
//
// The package is compiled into the filter, so it uses neither fmt nor encoding/json.
//
// # The document
//
// One JSON object (RFC 8259, UTF-8), or a google.protobuf.Struct, which Envoy hands over as protobuf. Its numbers are
// doubles, so 1048576, 1048576.0 and 1.048576e+06 are one number here. Durations are texts such as "500ms", "1m30s" or
// "24h", in whole milliseconds. Sizes are bytes. Header names may be written in any case. An empty list is a mistake
// where it would mean something else than the default.
//
//	ledger                          required
//	  cluster                       required. The Envoy cluster of ledgerd.
//	  token_env                     The variable of the VM's environment that has the bearer token. Default: no token
//	                                is sent. A variable that is not set or has spaces or line ends is a mistake.
//	  timeout                       5s (1ms to 1m). How long one batch of operations may take. At its end the ledger
//	                                counts as unreachable: 503 ledger_unavailable, the tool is not called.
//	  commit_timeout                5s (1ms to 10m). How long a caller whose tool has answered waits for the ledger to
//	                                keep the answer. At its end it gets the tool's reply with outcome in_doubt and
//	                                x-idem-committed: false; the commit goes on.
//	execute                         required
//	  cluster                       required. The Envoy cluster of the execution listener, which routes to the tool.
//	fingerprint
//	  key_env                       The variable that has the secret key of fingerprints, at least 16 bytes. Default: no
//	                                key, fingerprints are plain SHA-256 and can be guessed from the body.
//	  key_id                        At most 64 visible ASCII characters. Default: 8 hex digits of the key's SHA-256.
//	  previous                      [] (at most 8). Former configurations, so that a rotated key or an edited rule
//	                                forgets nothing. Each one costs every call another digest; drop it once the
//	                                retention of what it recorded is over.
//	    key_env, key_id             The former key. Absent: still the same. key_env null: there was none.
//	    version                     1. The version of the canonical form.
//	    calls                       The former rules. Absent: still the same. What they say of timing does not count.
//	calls                           required, 1 to 256 rules. The first rule that matches a call wins; a call that none
//	                                matches passes untouched.
//
// # A rule
//
//	name                            For people, metrics, and part of the fingerprint; at most 128 bytes, its own among
//	                                the rules. Default: what the match reads like, "POST /tools/*". Give a name before
//	                                you edit the match of such a rule, or its calls get new fingerprints.
//	mode                            "enforce" (default): one execution per intent. "shadow": every call is passed on
//	                                and nothing is added to its reply; what would have been done is counted. "off": as
//	                                if no rule matched.
//	match                           required, and at least path, path_prefix, host, tools or route of it. See below.
//	protocol                        "json" (default), "form", or "mcp" (which requires match.tools).
//	tool, args                      A source each. Default of the tool: /tool where the body has it, else the endpoint;
//	                                of the args: /args where the body has it, else the whole body. What a rule names must
//	                                be in every call, the tool as a text; a call without it is refused.
//	run                             A list of sources, the first that is there counts. Default: the header x-idem-run,
//	                                else /runId or /run_id where the body has /args. Headers in it are not passed on.
//	scope                           A list of sources that say whose call it is, or "none": every caller may be given
//	                                every result. Default: authorization and x-api-key, or cookie where neither is
//	                                there. A call that has none of the sources of a rule is refused; with {"value":
//	                                "anyone"} as the last of them, all such calls are one caller's.
//	headers                         []. Headers that say for whom, beside stripe-account, x-tenant-id and x-org-id.
//	volatile: drop, keep            []. Names that change from try to try and do not count, beside the built-in ones;
//	                                built-in ones that do count.
//	identity                        []. The only pointers, from the args, that count. Empty: all.
//	money                           []. {pointer, unit: "minor" or "major", currency}: what a number means. The pointer
//	                                is from the args; unit or currency may be left out, not both.
//	symbols                         {}. What a currency symbol means: {"$": "CAD"}; null leaves it as it is written.
//	intent: customer, amount        Pointers from the args, the first that is there counts. Default: customer,
//	                                customer_id, recipient, user_id, email; the money called amount, else the only
//	                                money. Where one is missing, a call is the near-duplicate of no other.
//	near_duplicates
//	  window                        5s (0s to retention). A new run that comes so soon after the first arrival joins it.
//	  horizon                       24h, or the retention where that is shorter (0s to retention). How long another call
//	                                of the same tool, customer and amount is a near-duplicate. 0s: never.
//	  hold_wait                     0s (to 24h). How long the caller of a held call waits for a person's answer before it
//	                                is told 409 held.
//	  hold_term                     24h (1s to 8760h). A hold that nobody answered is denied at its end.
//	  approval_term                 1h (1s to 8760h). A release that no call used ends with it; the next new run is held
//	                                again.
//	  on_new_run                    "hold" (default), "join" or "execute": a new run after the window. A run beyond the 256
//	                                that one execution's row records is answered, and is a new one when it asks again:
//	                                with "execute" that executes.
//	  on_same_intent                "hold" (default) or "execute": a near-duplicate.
//	  on_absent_run                 "execute" (default) or "hold": a near-duplicate without a run.
//	wait                            30s (0s to 24h). How long a caller waits for an execution; then it is told 409
//	                                in_flight, and the execution goes on.
//	execution_timeout               60s (1ms to 24h). How long the tool may take, to the end of its reply; then the call is
//	                                in doubt, and an inline stream is ended.
//	lease                           15s (to 24h), more than twice ledger.timeout. How long the executing worker may be
//	                                silent; then the call is in doubt.
//	retention                       24h (1s to 87600h). How long a result is replayed, from its commit; then the call is
//	                                new.
//	max_body_bytes                  1048576 (1 to 16777216). A call with more is refused with 413 body_too_large. Envoy
//	                                must buffer at least as much.
//	max_result_bytes                1048576 (1 to 16777216). A larger result reaches only the caller that executed; it
//	                                is not kept, and everyone else is told 409 result_unavailable. (A tools/call that is
//	                                executed inline and whose reply is over 8 MiB too is in doubt: nobody has read it.)
//	keep_headers                    []. Reply headers that are kept although they usually are not, such as set-cookie.
//	reply                           "transparent" (default): the tool's own reply. "envelope": wrapped in an object that
//	                                tells the outcome; not with execution "inline" or protocol "mcp".
//	execution                       "detached" (default): an execution outlives its caller. The tool's reply is read whole
//	                                before it is passed on; trailers of request and reply are not passed on. "inline": it
//	                                passes through the caller's stream, and a disconnect leaves it in doubt. The reply is
//	                                held back until the ledger has it, where it is of no use before its end: JSON, a body
//	                                of known length, a failure, up to max_result_bytes (of a tools/call at least 8 MiB).
//	                                Any other streams past, under x-idem-committed: pending, and only its end (of a
//	                                tools/call: the response) waits. The caller's route is used, without its retries.
//	failures
//	  success, definite, unknown    []. Statuses from 200 to 599 (404, "5xx", "500-599") that mean something else than
//	                                usual: see [Failures.Classify]. No status may be in two places.
//	  strict                        false. true: every 5xx that no list names is unknown.
//	provider_key                    Default: the tool is sent no key.
//	  header                        required. The header that the tool reads an idempotency key from.
//	  on_in_doubt                   "stop" (default), or "retry": the next arrival may execute a call in doubt again
//	                                under the same key, after execution_timeout.
//
// A source is an object with exactly one of: pointer (into the body), header, cookie, value (this very text), metadata
// (a path of at least two names into Envoy's dynamic metadata, to a text, a number or a truth value), certificate (of
// the certificate that the peer showed and Envoy verified: "uri_san" and "dns_san", its first name of that kind,
// "subject", or "sha256", which is another for each certificate). A call that does not have the metadata or the
// certificate that its scope names is refused with 400 unstable_scope.
//
// # What a rule matches
//
// All that the match names must hold. methods is ["POST"] unless it is given; a request that names another method than
// its own (x-http-method-override, x-http-method, x-method-override, or _method in the query), which a tool may heed,
// is guarded under both. host is compared without port and case. A guard that names a host is only as tight as Envoy's
// virtual hosts: where a tool is reached under any host, leave it out. tools are globs on the tool's name: * stands for
// any characters, ? for one. A rule without tools holds whatever the body is: in mode "shadow" or "off" it lets a body
// pass that cannot be read or is too large, whatever rules come after it.
//
// path is compared exactly but for a slash at its end, path_prefix as a beginning ("/tools" begins "/toolset" too;
// write "/tools/"), both without the query. No spelling leads around a guard: `/api/%69nvoke`, `/api//invoke`,
// `/api/./invoke`, `/api/x/../invoke`, `/api%2Finvoke`, `/api\invoke`, `/api/invoke;v=1`, `/API/Invoke` and
// `/api/invoke/` are all guarded by "/api/invoke", whatever Envoy normalizes and however the tool reads them, because a
// path is looked at in every reading that percent-decoding (also repeated), merging slashes, resolving dot segments and
// dropping path parameters give, in any order, and in any letter case. A rule that enforces matches when any of the
// readings does. A rule in mode "shadow" or "off", which lets calls through, matches only when every reading does, as
// it is written. A path with more readings than are worth looking at is guarded by every rule that enforces. A rule's
// own path must have one reading only.
//
// # What a route says
//
// A route of Envoy may say in its metadata (metadata.filter_metadata.idem) how its calls are guarded, in two texts:
//
//	rule                            The name of a rule. It is used as if it stood first in calls and its match named no
//	                                path and no host: the route has decided on those. Its methods and tools hold; what
//	                                they leave out falls under the other rules, by their matches. Where the path is not
//	                                the rule's own it counts, so that calls of two paths are never one.
//	mode                            The mode of every rule on this route, in place of its own.
//
// A rule with match.route true (beside it methods and tools only, and a name) is for routes alone. A mode that lets
// calls through ("shadow", "off") counts only for a path that can be read in one way, and for calls that a rule in that
// mode would match: the tool might read another as one that lies under another route; there the rule's own mode holds.
// Routes are compared by Envoy, with letter case: where the tool makes no difference there, neither should they
// (case_sensitive: false). Any other name or value under idem, a rule that is none and a value that is no text are
// mistakes. All calls on such a route, guarded or not, get 500 misconfigured and do not reach the tool, and the log
// says once what is wrong: what an operator wanted to guard must not pass because of a slip. Former configurations
// (fingerprint.previous) are read as if the route had said the same then.
package policy
