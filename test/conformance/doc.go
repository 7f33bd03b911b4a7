// Package conformance holds Collie to the official MCP conformance suites: whatever a server
// passes when it is asked directly it must pass behind `collie serve` as well.
//
// This part reads what the suites print ([ParseSummary]), joins and compares runs ([Union],
// [Lost]) and keeps the list of what the server itself does not pass ([Baseline]). The runs
// are a story, behind the build tag stories:
//
//	go test -tags stories -v ./test/conformance
//
// Needed on the machine: go, npm and the network of its registry for the first run.
package conformance
