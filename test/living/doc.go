// Package living tests servers and their tool lists over time, with the whole program, real servers and real
// files: servers keep working, and their tools are listed at once. Time limits are five times the promised
// figures, because the machine may be busy. The long forms have the build tag stories.
//
//	file                 shows
//	start_test.go        the first start, one with nothing changed, servers that are down or hang, many
//	                     servers of which one is used
//	settings_test.go     servers that are added, removed, renamed, disabled or configured otherwise
//	change_test.go       servers that offer something else than before, or what nobody may offer
//	damage_test.go       a cache file that is broken, edited, newer, or another program's
//	place_test.go,       a cache file that cannot be written, moves, or lies on a full or hung disk
//	place_linux_test.go
//	writers_test.go      several processes with one cache file, and one that is killed in a write
//	shared_test.go,      caches in a shared place
//	sharing_test.go
//	commands_test.go     cache commands, also beside a gateway that runs
//	promises_test.go     what is promised of processes, calls, lists and the timers that start nothing
//	agent_test.go        the way from the settings to an answer
//	npx_test.go          servers that a package runner starts
//	secrets_test.go,     what must not lie anywhere in the clear, and signing in
//	signin_test.go
//
// Packages toolcache, entry, upstream and mcp test much of this in more detail. test/faults tests noise on
// stdout, and what is left behind when a process is killed.
package living
