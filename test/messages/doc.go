// Package messages shows that what is said beside calls and their answers reaches the other side:
// reasons, questions, progress, roots, and messages that MCP does not name. Clients and servers are
// raw peers, over stdio, HTTP and the bridge.
package messages
