// Package messages tests that messages besides calls and their answers reach the other side: reasons of
// cancellations, questions, progress, roots, and messages that MCP does not name. Clients and servers are raw
// peers, over stdio, HTTP and the bridge.
package messages
