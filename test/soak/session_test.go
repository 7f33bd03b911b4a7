//go:build unix

package soak_test

import (
	"context"
	"fmt"
	"strconv"

	"github.com/tidwall/gjson"
)

// session is an MCP session with the gateway. It is implemented here from scratch, so that the test shares no code
// with what it judges. Requests may run at the same time.
type session interface {
	// do sends a request and returns its answer. params are the members of its params. When ctx ends, the request is
	// cancelled.
	do(ctx context.Context, method, params string) (answer, error)
	// listen passes notifications to heard until ctx ends, or the gateway ends it, which is an error. It first calls heard
	// with an empty method, once no notification is missed any more.
	listen(ctx context.Context, uris []string, heard func(method string, params gjson.Result)) error
	// close ends the session as clients should.
	close()
}

// answer is the response to a request: a JSON-RPC result or error.
type answer struct{ result, rpcError gjson.Result }

// text returns the text of a tool's result.
func (a answer) text() string { return a.result.Get("content.0.text").Str }

// failed reports whether the answer is an error of either kind.
func (a answer) failed() bool { return a.rpcError.Exists() || a.result.Get("isError").Bool() }

// kind returns the type of an error that the gateway made; empty for any other answer.
func (a answer) kind() string {
	if a.rpcError.Exists() {
		return a.rpcError.Get("data.error.type").Str
	}
	if a.result.Get("isError").Bool() && gjson.Valid(a.text()) {
		return gjson.Get(a.text(), "error.type").Str
	}
	return ""
}

func (a answer) String() string {
	s := a.result.Raw
	if a.rpcError.Exists() {
		s = a.rpcError.Raw
	}
	if len(s) > 400 {
		s = s[:400] + "…"
	}
	return s
}

// A protocol version of each era.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// clientInfo says who the client is.
const clientInfo = `{"name":"soak","version":"1"}`

// frame returns a message; with id 0 it is a notification.
func frame(era string, id int64, method, params string) string {
	if era == modern {
		if params != "" {
			params += ","
		}
		params += `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + modern +
			`","io.modelcontextprotocol/clientInfo":` + clientInfo + `,"io.modelcontextprotocol/clientCapabilities":{}}`
	}
	head := `{"jsonrpc":"2.0",`
	if id != 0 {
		head += `"id":` + strconv.FormatInt(id, 10) + `,`
	}
	return head + `"method":"` + method + `","params":{` + params + `}}`
}

// parseAnswer parses a message, which must be the answer to request id.
func parseAnswer(msg []byte, id int64) (answer, error) {
	m := gjson.ParseBytes(msg)
	a := answer{m.Get("result"), m.Get("error")}
	if m.Get("id").Raw != strconv.FormatInt(id, 10) || a.result.Exists() == a.rpcError.Exists() {
		return a, fmt.Errorf("no answer to request %d: %.400s", id, msg)
	}
	return a, nil
}

// initializeParams has the members of the params of initialize.
const initializeParams = `"protocolVersion":"` + legacy + `","capabilities":{},"clientInfo":` + clientInfo

// listenParams returns the members of the params of subscriptions/listen (2026-07-28).
func listenParams(uris []string) string {
	list := ""
	for i, uri := range uris {
		if i > 0 {
			list += ","
		}
		list += strconv.Quote(uri)
	}
	return `"notifications":{"toolsListChanged":true,"resourceSubscriptions":[` + list + `]}`
}

// subscribe subscribes a legacy session to resources.
func subscribe(ctx context.Context, s session, uris []string) error {
	for _, uri := range uris {
		a, err := s.do(ctx, "resources/subscribe", `"uri":`+strconv.Quote(uri))
		if err == nil && a.failed() {
			err = fmt.Errorf("subscribe to %s: %v", uri, a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
