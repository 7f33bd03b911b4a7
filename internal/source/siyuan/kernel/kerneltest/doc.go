// Package kerneltest holds the test twin of the SiYuan kernel: a fake that keeps a small workspace in memory and
// answers /api/* over HTTP as a real kernel of version 3.7.3 was recorded to answer, the recordings themselves, and a
// contract suite that holds any http.Handler to them.
//
// The fake refuses what the real kernel refuses, in the real kernel's words: a handler that panics inside answers
// code 0 with data null, an unknown route answers an empty 200 under gzip, getFile reports errors as HTTP 202. It also
// fails the test when a client sends a request that no recording shows to be legal (see [Legal]).
//
// Entry points: [New] starts a fake, [Recordings] reads the recorded rows, [TestHandler] runs the contract suite.
//
// What it leaves out: WebSocket pushes, accounts, sync, the marketplace. Other families of endpoints live in one file
// each and join through the list in families.go.
package kerneltest
