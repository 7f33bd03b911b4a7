// Package acceptance tests what the SiYuan tools promise, with the real program in front of the test
// kernel of package kerneltest. Its clients are the command line and the official Go SDK, in both
// protocol eras.
//
// Behavior with many cases is tested in full beside the part that implements it. Here its most
// important cases are tested again, end to end.
//
//	file here              in full
//	levels_test.go         test/notes: every action × every level × one and many targets, and a
//	                       canary in every field, behind every action
//	size_test.go           internal/source/siyuan: TestSize
//	toolconfig_test.go     internal/source/siyuan/access: TestFormats, TestConfigUnreadable,
//	                       TestNothingOpensByItself
//	levelsfile_test.go     internal/source/siyuan/access: TestUnreadable;
//	                       internal/source/siyuan/kernel: TestRecordedFileErrors
//	parallel_test.go       internal/pipeline/analytics: TestFiftyParallelCalls
//	kernel_test.go         here
//	paths_test.go          internal/source/siyuan/file: hostile_test.go
//	http_test.go           internal/face/httpserver, internal/mcp: each code in all its forms;
//	                       test/faults: a parent process that ends
//	danger_test.go         internal/pipeline/gate, internal/face/mcpserver: every answer
//	commands_test.go,      testdata/script/siyuan_*.txtar: the command line as a story
//	terminal_linux_test.go
//	safety_test.go         internal/source/siyuan/safety
//	overwrite_test.go      internal/source/siyuan/fs: TestOverwrite…, 10,001 blocks among them
//	smoke_test.go          test/live, with `make live` and a real kernel
//
// The other files test what clients see of all tools: help, resources, prompts, instructions, the
// shape and the size of results, how arguments are understood, the examples of all help pages, and
// who may confirm a dangerous call.
package acceptance
