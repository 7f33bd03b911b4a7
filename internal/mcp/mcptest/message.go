package mcptest

import (
	"bytes"

	"github.com/tidwall/gjson"
)

// This file parses messages, with the details that misbehaviour needs.

// JSON-RPC and MCP error codes the server uses.
const (
	codeParse             = -32700
	codeInvalidRequest    = -32600
	codeMethodNotFound    = -32601
	codeInvalidParams     = -32602
	codeInternal          = -32603
	codeResourceNotFound  = -32002 // legacy only
	codeHeaderMismatch    = -32020
	codeMissingCapability = -32021
	codeVersion           = -32022
)

// The keys of the per-request metadata of 2026-07-28.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
)

// message is a received JSON-RPC message with the parts that every request needs.
type message struct {
	id     string // JSON text, empty for a notification
	method string
	params gjson.Result
	result string // JSON text of a response's result
	err    string // JSON text of a response's error

	name      string // params.name
	uri       gjson.Result
	arguments gjson.Result
	meta      meta
}

// meta is what the server reads of params._meta.
type meta struct {
	progressToken string // JSON text
	version       string
	capabilities  gjson.Result
	logLevel      string
}

// parseMessage parses b, which it does not keep. It returns false unless b is one JSON object.
func parseMessage(b []byte) (*message, bool) {
	b = bytes.TrimSpace(b)
	if !gjson.ValidBytes(b) || b[0] != '{' {
		return nil, false
	}
	m := &message{}
	gjson.ParseBytes(b).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "id":
			m.id = v.Raw
		case "method":
			m.method = v.Str
		case "params":
			m.params = v
			m.readParams(v)
		case "result":
			m.result = v.Raw
		case "error":
			m.err = v.Raw
		}
		return true
	})
	return m, true
}

func (m *message) readParams(params gjson.Result) {
	if !params.IsObject() {
		return
	}
	params.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "name":
			m.name = v.Str
		case "uri":
			m.uri = v
		case "arguments":
			m.arguments = v
		case "_meta":
			m.meta.readFields(v)
		}
		return true
	})
}

func (m *meta) readFields(v gjson.Result) {
	if !v.IsObject() {
		return
	}
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "progressToken":
			m.progressToken = v.Raw
		case metaVersion:
			m.version = v.Str
		case metaCapabilities:
			m.capabilities = v
		case metaLogLevel:
			m.logLevel = v.String()
		}
		return true
	})
}

// quote returns s as JSON text.
func quote(s string) string { return string(gjson.AppendJSONString(nil, s)) }

// oneLine removes line breaks from JSON text; they can occur only between tokens.
func oneLine(b []byte) []byte {
	return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\n"), nil), []byte("\r"), nil)
}
