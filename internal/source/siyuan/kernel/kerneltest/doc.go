// Package kerneltest has what tests of SiYuan's clients need: recorded answers of a real kernel 3.7.3, a contract
// suite that checks any http.Handler against them, and a test kernel.
//
// The test kernel is the vault, which answers like the recorded kernel. Around it is what only tests need: tokens,
// faults, a list of requests, a delayed index. It fails the test if a client sends a request that no recording shows
// to be legal (see [Legal]). If [RealKernel] names a real kernel, that one answers instead, so that the tests of the
// tools run against it.
//
// Entry points: [New] starts a kernel, [Recordings] reads the recorded rows, [TestHandler] runs the contract suite.
package kerneltest
