package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// An era is the protocol era that a client speaks, named by its version: legacy clients open a session;
// modern ones send all metadata with each request.
type era string

const (
	legacy era = "2025-11-25"
	modern era = "2026-07-28"
)

// A client is a minimal MCP client: one connection, one session, one request at a time.
type client interface {
	// prepare sets the request that call sends from now on.
	prepare(r request)
	// call sends the prepared request with the next id and returns the response, which is valid until the
	// next call. A response other than a result is an error.
	call() ([]byte, error)
	close() error
}

// request is a request without its id. params are the members of its params; name is what a modern client
// repeats in the header Mcp-Name.
type request struct{ method, name, params string }

func callTool(name, arguments string) request {
	return request{"tools/call", name, `"name":"` + name + `","arguments":` + arguments}
}

// echoArgs are the arguments of small calls.
const echoArgs = `{"text":"the quick brown fox jumps over the lazy dog"}`

// frame is a request as bytes, split at its id.
type frame struct{ before, after []byte }

func (e era) frame(r request) frame {
	params := r.params
	if e == modern {
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + string(e) +
			`","io.modelcontextprotocol/clientInfo":` + clientInfo + `,"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	return frame{[]byte(`{"jsonrpc":"2.0","id":`), []byte(`,"method":"` + r.method + `","params":{` + params + `}}`)}
}

const clientInfo = `{"name":"bench","version":"1"}`

// initializeRequest is the initialize request, and initialized the notification after it. greeting declares the capability roots,
// as nearly all clients do. With a server of both eras Collie then speaks the client's era.
var (
	initializeRequest = request{method: "initialize", params: `"protocolVersion":"` + string(legacy) + `","capabilities":{"roots":{"listChanged":true}},"clientInfo":` + clientInfo}
	initialized       = []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
)

func (f frame) append(b []byte, id int) []byte {
	b = append(b, f.before...)
	b = strconv.AppendInt(b, int64(id), 10)
	return append(b, f.after...)
}

// isResponseTo reports whether msg is the response to request id.
func isResponseTo(msg []byte, id int) bool {
	var b [48]byte
	return bytes.HasPrefix(msg, append(strconv.AppendInt(append(b[:0], `{"jsonrpc":"2.0","id":`...), int64(id), 10), ',')) // as all programs here write it
}

// smallBody is the size in bytes up to which an answer is searched for a tool's failure.
const smallBody = 4 << 10

// resultOf returns msg if it is the result of request id, else an error.
func resultOf(msg []byte, id int) ([]byte, error) {
	if !isResponseTo(msg, id) || !bytes.Contains(msg[:min(len(msg), 64)], []byte(`"result":`)) ||
		len(msg) <= smallBody && bytes.Contains(msg, []byte(`"isError":true`)) {
		return nil, fmt.Errorf("request %d: got %.300q", id, msg)
	}
	return msg, nil
}

// agreedVersion returns the version in the answer to initialize.
func agreedVersion(msg []byte) (string, error) {
	var m struct {
		Result struct{ ProtocolVersion string }
	}
	err := json.Unmarshal(msg, &m)
	if err == nil && m.Result.ProtocolVersion == "" {
		err = fmt.Errorf("initialize: no protocol version in %.300q", msg)
	}
	return m.Result.ProtocolVersion, err
}
