// Package acceptance shows what the SiYuan tools promise, on the real program in front of the kernel
// of tests of package kerneltest. Clients are the official Go SDK's, of both protocol eras, and the
// command line.
//
// What has many cases is shown in full where the part lives that has to pass it; here it is met
// once more by its heart, end to end.
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
//	                       test/faults: the parent that goes
//	danger_test.go         internal/pipeline/gate, internal/face/mcpserver: every answer
//	commands_test.go,      testdata/script/siyuan_*.txtar: the command line as a story
//	terminal_linux_test.go
//	safety_test.go         internal/source/siyuan/safety
//	overwrite_test.go      internal/source/siyuan/fs: TestOverwrite…, 10,001 blocks among them
//	smoke_test.go          test/live, with `make live` and a real kernel
//
// Beside them stand the tests of what clients see of all tools alike: help, resources, prompts,
// instructions, the shape and the size of results, how arguments are understood, and the examples
// of all help pages.
package acceptance
