// Package kerneltest holds what tests of SiYuan's clients need: the recorded answers of a real kernel of version 3.7.3,
// a contract suite that holds any http.Handler to them, and a kernel for tests.
//
// That kernel is the vault, which answers as the recorded one did. Around it stands what only a test wants: tokens,
// faults, a list of what was asked, an index that lags. It also fails the test when a client sends a request that no
// recording shows to be legal (see [Legal]). Where [RealKernel] names a real kernel, that one answers in its stead, and
// the tests of the tools run before it.
//
// Entry points: [New] starts a kernel, [Recordings] reads the recorded rows, [TestHandler] runs the contract suite.
package kerneltest
