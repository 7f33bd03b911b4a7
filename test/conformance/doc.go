// Package conformance holds Collie to the official MCP conformance suites, in both roles: whatever
// a server passes when it is asked directly it must pass behind `collie serve` as well, and
// whatever a client passes it must pass with a Collie between it and the suite's server.
//
// This part reads what the suites print ([ParseSummary]), joins and compares runs ([Union],
// [Lost]) and keeps the list of what the server or the client itself does not pass ([Baseline]).
// The runs are a story, behind the build tag stories:
//
//	go test -tags stories -v ./test/conformance              half a minute, as `make stories` runs it
//	go test -tags stories -v ./test/conformance -args -full  `make conformance`
//
// The short form believes the baseline, and so does not run server and client alone; and Collie has the other server beside
// the one of the suites on stdio only.
//
// In the client role the suite starts package between for each scenario, which runs the Collie.
//
// Needed on the machine: go, npm and the network of its registry for the first run.
package conformance
