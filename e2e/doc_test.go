// Package e2e_test holds what the product promises, seen from where its users stand: real HTTP requests enter a real
// Envoy with the compiled filter, a real ledgerd decides, a tool counts. One file is one promise.
//
// How the three are started is in envoytest. What can be judged without Envoy is tested elsewhere: the filter's module
// in wasmhost, everything pure beside its code.
package e2e_test
