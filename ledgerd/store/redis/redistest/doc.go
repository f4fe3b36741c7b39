// Package redistest runs real Valkey servers for tests: on free ports of 127.0.0.1, in temporary folders, alone or as a
// small cluster. A server ends with its test, or with the test's process however that ends. Where the server is missing
// the test fails and names the make target that brings it.
package redistest
