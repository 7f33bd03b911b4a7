// Command bench measures Collie from outside, compares the figures with the budgets in docs/architecture.md,
// and writes bench/RESULTS.md.
//
// It calls a server over stdio, over the server's own HTTP endpoint, through Collie with
// token, audit and all checks on, and through a bare relay (folder relay) that checks
// nothing. Simple clients of its own alternate between these ways every few calls, so that
// other work on the machine disturbs all of them alike. Ratios within one run are therefore
// comparable; absolute figures depend on the machine. The budgets are for a typical server,
// built on an SDK (folder sdkserver). The same figures are measured with a lean server
// (package mcptest), which makes each microsecond that Collie adds visible.
//
// The built-in notes are measured with a generated vault of 100,000 blocks: their handler by
// itself, and the whole program.
//
// Conversations are measured with a fake model provider that puts its sending time into each
// piece of an answer.
//
// How well collie_find finds tools is measured with the questions of test/catalogs, and the
// size of tool lists in each view with its tools.
//
// The benchmarks also start Collie in front of servers that are slow to start, with and
// without a tool cache, stop it, and kill its servers.
//
//	go run ./test/bench -collie bin/collie -out bench/RESULTS.md
//
// -quick takes a few seconds and shows only that the harness works; -only NAME measures
// the parts whose names contain NAME. A missed budget is only a line in the report. With
// -check the program fails if a ratio is five times off its budget.
//
//	go run ./test/bench compare -old REVISION -new bin/collie
//
// measures two programs alternately and says whether the new one is worse. If it is, the exit code is 1.
package main
