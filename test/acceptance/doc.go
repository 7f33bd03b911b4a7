// Package acceptance shows the acceptance checks of the SiYuan tools, each
// by tests of its name, on the real program in front of the kernel of tests of package kerneltest.
// Clients are the official Go SDK's, of both protocol eras, and the command line.
//
// A check whose cases are many is shown in full where the part lives that has to pass it; here it
// is met once more by its heart, end to end.
//
//	check  here                             in full
//	 1     TestCheck01Levels                test/notes: every action × every level × one and many targets
//	 2     TestCheck02HiddenNotebook        test/notes: a canary in every field, behind every action
//	 3     TestCheck03Size, …StableHash     internal/source/siyuan: TestSize
//	 4     TestCheck04Formats,              internal/source/siyuan/access: TestFormats, TestConfigUnreadable,
//	       …ListChanged, …TTL,              TestNothingOpensByItself
//	       …FailedReadsNeverWiden
//	 5     TestCheck05MissingFile,          internal/source/siyuan/access: TestUnreadable
//	       …CorruptFile, …CorruptLater
//	 6     TestCheck06FileErrors            internal/source/siyuan/kernel: TestRecordedFileErrors
//	 7     TestCheck07Parallel              internal/pipeline/analytics: TestFiftyParallelCalls
//	 8     TestCheck08KernelDownAtStart,    here
//	       …WrongToken, …Busy, …CommandLine
//	 9     TestCheck09Paths                 internal/source/siyuan/file: hostile_test.go
//	10     TestCheck10Codes, …TLS,          internal/face/door, internal/mcp: each code in all its forms;
//	       …Watchdog, …Clients              test/faults: the parent that goes
//	11     TestCheck11Danger,               internal/pipeline/gate, internal/face/mcpserver: every answer
//	       …CodeIsNoConfirmation,
//	       …CommandLine, …Terminal,
//	       …SetPermission, …ConfigFile…
//	12     TestCheck12Flags, …LongText,     testdata/script/siyuan_*.txtar: the command line as a story
//	       …ExitCodes, …JSON, …Precedence,
//	       …Paging
//	13     TestCheck13LostResponse,         internal/source/siyuan/safety
//	       …LostOnTheCommandLine, …Replay,
//	       …ChangedState, …Strict, …Undo
//	14     TestCheck14Overwrite, …Blind     internal/source/siyuan/fs: TestCheck14_…, 10,001 blocks among them
//	15     TestCheck15Smoke                 test/live, with `make live` and a real kernel
//
// Beside them stand the tests of what clients see of all tools alike: help, resources, prompts,
// instructions, the shape and the size of results, how arguments are understood, and the examples
// of all help pages.
package acceptance
