// Package fidelity asks whether what a server says reaches a client byte for byte, and what
// a client says a server, through the real program: over stdio and HTTP on both sides, in
// both eras on both sides.
//
// The server is fakemcp, which sends what careless relays change: unknown fields and content
// types, integers beyond 2^53, key order, deep nesting, any way to write a character. The
// clients are written here, on nothing of Collie's, and read bytes. A message that came
// through the gateway is compared with the bytes the server sent; only the edits that
// docs/architecture.md lists are taken back first, and nothing else may differ.
//
// The short form runs with the other tests; the build tag stories asks for more of the same.
package fidelity
