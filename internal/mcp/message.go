// Package mcp is the Model Context Protocol on the wire: JSON-RPC messages as raw bytes, over lines and over
// HTTP, in both eras and both directions. It knows nothing of tools.
//
//	Client ── Link over a Stream (stdio, legacy SSE), or over HTTP    towards servers
//	Service ── ServeStream, HTTPServer                                towards clients
//
// A [Message] is raw bytes with the few parts that routing needs; see [Parse]. Towards a server, [Connect]
// detects the era and opens a session. Towards clients, a [Service] answers the requests that [ServeStream]
// and [HTTPServer] receive in either era.
//
// The eras are named as in MCP 2026-07-28, Versioning. Legacy versions (2024-11-05 to 2025-11-25) open a
// session with initialize; in modern ones every request carries its own metadata.
package mcp

import (
	"encoding/json"
	"fmt"
)

// ID is a JSON-RPC request id as raw JSON: 7, "7" or null. An empty ID means that there is none.
type ID string

// Message is one JSON-RPC message: its raw bytes and the parts that routing needs, most of which share its bytes.
type Message struct {
	Raw    json.RawMessage
	ID     ID
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  json.RawMessage
	// IsError and ResultType are these two fields of Result.
	IsError    bool
	ResultType string
}

// IsRequest reports whether m asks for a response.
func (m *Message) IsRequest() bool { return m.Method != "" && m.ID != "" }

// IsNotification reports whether m is a notification.
func (m *Message) IsNotification() bool { return m.Method != "" && m.ID == "" }

// IsResponse reports whether m answers a request.
func (m *Message) IsResponse() bool { return m.Method == "" && (m.Result != nil || m.Error != nil) }

// Error is a JSON-RPC error object, read or to be written.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error reads "message (code n)".
func (e *Error) Error() string { return fmt.Sprintf("%s (code %d)", e.Message, e.Code) }

// The error codes that Collie sends or acts on: JSON-RPC 2.0, then MCP, legacy and 2026-07-28.
const (
	codeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	// codeSessionNotFound answers a request with an unknown session.
	codeSessionNotFound = -32001
	// CodeResourceNotFound is the answer to an unknown resource in the legacy era.
	CodeResourceNotFound  = -32002
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
	codeVersion           = -32022
)
