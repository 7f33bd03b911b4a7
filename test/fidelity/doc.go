// Package fidelity tests that messages pass through the real program byte for byte, from servers to clients
// and back, over stdio and HTTP and in both eras on both sides.
//
// The server is fakemcp. It sends what a careless relay would change: unknown fields and content types, integers
// beyond 2^53, unusual key order, deep nesting, every way to write a character. The clients are written here,
// share no code with Collie, and read bytes. Before a message that came through the gateway is compared with
// the server's bytes, the edits that docs/architecture.md lists are undone; nothing else may differ.
//
// The short form runs with the other tests; the build tag stories runs more of the same.
package fidelity
