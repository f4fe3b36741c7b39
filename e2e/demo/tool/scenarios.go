package tool

import _ "embed"

// scenarios are the console's buttons: each sends these requests from the browser, phase after phase, the requests of
// a phase at once. {fresh} stands for a few letters that are new at every play, so that no earlier play answers.
//
//go:embed scenarios.json
var scenarios []byte
