// Package conformance checks Collie with the official MCP conformance suites, in both roles: the
// scenarios that a server passes on its own it must also pass behind `collie serve`, and those that
// a client passes on its own it must also pass with a Collie between it and the suite's server.
//
// The package parses the output of the suites ([ParseSummary]), joins and compares runs ([Union],
// [Lost]) and keeps the list of scenarios that server or client do not pass on their own
// ([Baseline]). The tests that run the suites have the build tag stories:
//
//	go test -tags stories -v ./test/conformance              half a minute, as `make stories` runs it
//	go test -tags stories -v ./test/conformance -args -full  `make conformance`
//
// The short form relies on the baseline instead of running server and client alone, and covers fewer ways to reach the
// server.
//
// In the client role the suite starts the program in the folder between for each scenario. That program runs Collie.
//
// Needed on the machine: go, npm and the network of its registry for the first run.
package conformance
