// Package envoy turns the bootstrap configuration that lies beside it, demo.yaml, into one for other addresses.
//
// demo.yaml is a complete Envoy configuration that runs as it is; there is no template language in it. [Render] reads
// it as data and replaces, by the names of listeners, clusters and filters, what the demo, the end-to-end tests and the
// benchmark each have of their own: ports, the module's file, the plugin configuration. So all of them run the very
// configuration that people copy. What is asked to be replaced and is not there is an error: a renamed cluster cannot
// leave a test on the demo's ports.
//
// The package knows nothing of what the configuration means; README.md in this folder explains that.
package envoy
