// Command bench measures Collie from outside, compares the figures with the budgets in docs/architecture.md,
// and writes bench/RESULTS.md.
//
// It calls a server over stdio, over the server's own HTTP endpoint, behind Collie with
// token, audit and all checks on, and behind a bare relay (folder relay) that checks
// nothing. Lean clients of its own take turns on these ways, a few calls at a time, so that
// whatever else the machine does disturbs all alike: ratios within one run count, absolute
// figures belong to the machine. The budgets are about a server as most are, built on an
// SDK (folder sdkserver); the same is measured before a lean one (package mcptest), where
// each microsecond of ours shows.
//
// The built-in notes are measured over a generated vault of 100,000 blocks: their handler by
// itself, and the program over it.
//
// Conversations are measured with a provider that writes into each piece of an answer when it sends it.
//
// What collie_find finds is counted over the questions of test/catalogs, and what lists take in each view over its tools.
//
// It also starts Collie before servers that are slow to start, with and without a tool cache,
// stops it, and kills servers under it.
//
//	go run ./test/bench -collie bin/collie -out bench/RESULTS.md
//
// -quick takes a few seconds and shows only that the harness works; -only NAME measures
// the parts whose names contain it. A missed budget is a line in the report and no failure;
// with -check a ratio five times off its budget is one.
//
//	go run ./test/bench compare -old REVISION -new bin/collie
//
// measures two programs in turns and says whether the new one is worse; it exits with 1 where it is.
package main
