// Package mcptest is an MCP server for tests. It behaves well by default. Flags and tools make it odd, slow,
// wrong or crash. Tests of the gateway and its benchmarks use it as an upstream server.
//
// It is the independent counterpart of package mcp and therefore shares no code with it: it reads with bufio
// and gjson, builds its output byte by byte, and serves HTTP with net/http alone. It speaks both eras, legacy
// (2024-11-05 to 2025-11-25) and modern (2026-07-28), over stdio and Streamable HTTP.
//
// [Main] is the program. A test binary can run as that program: its TestMain calls [RunIfChild] first, and
// [Command] or [StartHTTP] start it. [Build] makes a separate binary; [Handler] serves inside the test's own
// process. [OddDefinitions] and [OddResult] return the bytes that the server sends with the flag --odd and
// from the tool odd, so that a test can check that they arrived unchanged.
//
// # Flags
//
// Protocol:
//
//	--era legacy|modern|both   what the server speaks; default legacy
//	--versions a,b             the protocol versions it admits, newest first
//	--silent-unknown           no answer to unknown methods, server/discover among them
//	--discover-error JSON      this error object answers server/discover
//	--never-answer             reads everything and answers nothing
//	--hang a,b                 never answers these methods
//	--slow a,b, --slow-by 2s   answers these methods late
//	--lag 200ms                over HTTP each POST takes that long
//	--http ADDR, --sse         Streamable HTTP at /mcp; --sse answers with event streams
//	--ask-roots                ask for the client's roots outside of any call
//	--name, --version, --instructions, --ttl MS, --scheme NAME, --without a,b
//
// Lists:
//
//	--offer a,b                built-in tools to list; default all, with --tools none
//	--tools N                  N generated tools, tool_0001 and on, which echo
//	--bad-tools                also list entries a client has to drop or mend
//	--odd, --seed N            also list OddDefinitions(N)
//	--definitions FILE         the result of tools/list, byte for byte
//	--result-file FILE         the result of the tool raw, byte for byte
//	--page N, --endless-cursor, --repeat-cursor
//
// Life:
//
//	--delay-start 1s, --start-when FILE, --start-with N, --banner TEXT, --exit-code N, --print-stderr TEXT,
//	--crash-after N, --ignore-eof, --ignore-term, --fork, --pidfile DIR, --record FILE
//
// # Tools
//
// Messages MCP does not name: vendor, and requests that begin with vendor/, which come back; withdraw
// takes a question back, askmany asks several at once.
// Plain answers: echo, big, raw, deep, fail, rpcerror, env, pid, odd, header. With time:
// slow, late, hang. Asking back: ask, ask2. Notices: log, change, touch. Faults: crash,
// garbage, noise, stderr, badjson, toolarge, forget. Their definitions in tools/list say
// what each does with its arguments. A built-in tool that is not listed can still be
// called.
//
// Every request that is cancelled while it runs is reported on stderr as "cancelled ID",
// ID being the JSON text of its id.
package mcptest
