// Package usual holds what people usually do with Collie: calls of MCP clients, each with what must become of it
// (calls.jsonl), and an hour of chat. Its tests check how many questions these raise.
package usual
