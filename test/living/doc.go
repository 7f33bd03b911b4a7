// Package living tests servers and their tool lists over time, with the whole program, real servers and real files:
// servers keep working, and their tools are listed at once. Most time limits are five times what is promised, because
// the machine may be busy. With the build tag stories, some tests run longer.
//
//	file                 shows
//	start_test.go        the first start, a start with nothing changed, servers that are down or hang, and many
//	                     servers of which few are used
//	settings_test.go     servers that are added, removed, renamed, disabled or configured differently
//	change_test.go       servers that offer something else than before, or something invalid
//	damage_test.go       a cache file that is broken, edited, newer, or written by another program
//	place_test.go,       a cache file that cannot be written, moves, or is on a full or hung disk
//	place_linux_test.go
//	writers_test.go      several processes with one cache file, and one that is killed while it writes
//	shared_test.go,      caches in a shared place
//	sharing_test.go
//	commands_test.go     cache commands, also beside a running gateway
//	promises_test.go     what is promised about processes, calls and lists, and that no timer starts a server
//	agent_test.go        the way from the settings to an answer
//	npx_test.go          servers that a package runner starts
//	secrets_test.go,     what must not be stored or shown in the clear, and signing in
//	signin_test.go
//
// Packages toolcache, entry, upstream and mcp test much of this in more detail. test/faults tests noise on stdout,
// and what is left behind when a process is killed.
package living
