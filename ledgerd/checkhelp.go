package main

// settingsReference is the plugin configuration in short, for `ledgerd check --help`. Package policy's comment, in
// filter/policy/doc.go, is the whole of it.
const settingsReference = `The settings in short; unit, default and limit of each stand in filter/policy/doc.go of Idem's source:

  ledger        cluster (required), token_env, timeout (5s), commit_timeout (5s)
  execute       cluster (required)
  fingerprint   key_env, key_id, previous: [{key_env, key_id, version, calls}]
  calls         required: a list of rules, of which the first that matches a call wins

A rule:

  name, mode           mode: enforce, shadow or off
  match                path or path_prefix, host, methods (["POST"]), tools (globs on the tool's name); or route: true,
                       where routes name the rule in their metadata
  protocol             json, form or mcp
  tool, args           where they are; default: /tool and /args where the body has them, else the path and the whole body
  run                  where the run is, the id that is new for every re-plan; default: the header x-idem-run, else /runId
                       or /run_id where the body has /args. For a flat body: [{"header": "x-idem-run"}, {"pointer": "/runId"}]
  scope, headers       whose call it is (default: its credentials), and headers that say for whom
  volatile             drop, keep: names that do not count, or do
  identity             the only pointers that count
  money, symbols       what a number means ({pointer, unit, currency}), what a currency symbol means
  intent               customer, amount: what makes two different calls near-duplicates
  near_duplicates      window (5s), horizon (24h), hold_wait (0s), hold_term (24h), approval_term (1h),
                       on_new_run (hold, join, execute), on_same_intent (hold, execute), on_absent_run (execute, hold)
  wait, execution_timeout, lease, retention    30s, 60s, 15s, 24h
  max_body_bytes, max_result_bytes             1048576 each
  keep_headers, reply  reply headers that are stored though they usually are not; transparent or envelope
  execution            detached or inline
  failures             success, definite, unknown: statuses that mean something else than usual; strict
  provider_key         header, on_in_doubt (stop, retry): an idempotency key that the tool is sent

A source (tool, args, run, scope) is one of {"pointer"}, {"header"}, {"cookie"}, {"value"}, {"metadata"},
{"certificate"}.
`
