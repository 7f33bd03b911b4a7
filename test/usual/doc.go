// Package usual holds what people usually do with Collie: calls of MCP clients with what became of them before there was a
// guard (calls.jsonl), and an hour of chat. Its tests count the questions that this raises.
package usual
