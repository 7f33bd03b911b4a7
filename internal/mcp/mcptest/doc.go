// Package mcptest is an MCP server to test against: well-behaved by default, and odd,
// slow, wrong or fatal where a flag or a tool asks for it. Tests, fault stories, the
// fidelity property and the benchmarks put it behind the gateway.
//
// It judges the wire layer of package mcp and therefore shares nothing with it: it reads
// with bufio and gjson, writes bytes it put together itself, and serves HTTP with
// net/http alone. It speaks both eras, the legacy one (2024-11-05 to 2025-11-25) and the
// modern one (2026-07-28), over stdio and over Streamable HTTP.
//
// [Main] is the program. A test binary becomes that program by calling [RunIfChild] first
// thing in its TestMain, and [Command] or [StartHTTP] then run it; [Build] makes a real
// binary, [Handler] serves inside the test's own process. [OddDefinitions] and [OddResult]
// give the bytes that the server sends with the flag --odd and from the tool odd, so that
// a test can ask whether they arrived unchanged.
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
//	--delay-start 1s, --banner TEXT, --exit-code N, --print-stderr TEXT,
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
