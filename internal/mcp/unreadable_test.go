package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"collie/internal/mcp"
)

// unreadableAnswers are unreadable answers, with ID in place of the request's id, and the error expected for each.
var unreadableAnswers = []struct {
	name, text, says string
	alone            bool // it has no id, so with several waiting requests it belongs to none
}{
	{name: "NaN", text: `{"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}`, says: `byte 38: expected a value, found "NaN}}"`},
	{name: "Infinity before the id", text: `{"jsonrpc": "2.0", "result": {"x": -Infinity}, "id": ID}`, says: `byte 35: invalid number, found "-Infinity}, \"id\": 1}"`},
	{name: "too deep", text: `{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `}`, says: `byte 1032: nested deeper than 1000`},
	{name: "too deep, id behind", text: `{"result":` + strings.Repeat(`{"a":`, 1500) + `1` + strings.Repeat("}", 1500) + `,"id":ID}`, says: `nested deeper than 1000`},
	{name: "truncated", text: `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"id":7}`, says: `found its end`},
	{name: "truncated before the id", text: `{"jsonrpc":"2.0","result":{"content":[{"id":7}`, says: `found its end`, alone: true},
	{name: "truncated in a string", text: `{"jsonrpc":"2.0","id":ID,"result":{"text":"abc`, says: `string without an end`},
	{name: "control character", text: "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"text\":\"a\tb\"}}", says: `control character`},
	{name: "quote in a string", text: `{"jsonrpc":"2.0","result":{"text":"a "b" c"},"id":ID}`, says: `expected , or }`},
	{name: "no outcome", text: `{"jsonrpc":"2.0","id":ID}`, says: `expected "method", "result" or "error"`},
	{name: "error is a number", text: `{"jsonrpc":"2.0","id":ID,"error":-32700}`, says: `member "error" must be an object`},
	{name: "error is a number, no id", text: `{"jsonrpc":"2.0","id":null,"error":-32700}`, says: `member "error" must be an object`, alone: true},
	{name: "result without an id", text: `{"jsonrpc":"2.0","result":{}}`, says: `a result without an "id"`, alone: true},
	{name: "id twice", text: `{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}`, says: `member "id"`},
	{name: "text behind it", text: `{"jsonrpc":"2.0","id":ID,"result":{}} done`, says: `text after the end of the message, found "done"`},
}

// checkAnswerError fails unless err is the error of a request whose answer came and could not be read, and says so
// with the text says and a position.
func checkAnswerError(t *testing.T, err error, says string) {
	t.Helper()
	link, ok := errors.AsType[*mcp.LinkError](err)
	if !ok || !link.Sent || link.Status != 0 || link.TooLarge {
		t.Fatalf("failed with %#v", err)
	}
	if _, ok := errors.AsType[*mcp.AnswerError](err); !ok {
		t.Fatalf("failed with %v, which is not about an answer", err)
	}
	if !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "at byte ") {
		t.Errorf("says %q, want %q", err, says)
	}
}

// An unreadable answer fails its own request at once, and no other.
func TestConnUnreadableAnswers(t *testing.T) {
	t.Parallel()
	for _, tt := range unreadableAnswers {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, f := newConn(t, ignoringHandler{}, nil, 0)
			listening := startCall(t.Context(), c, &mcp.Request{Method: "subscriptions/listen"})
			listenID := f.next().ID
			failing := startCall(t.Context(), c, &mcp.Request{Method: "x"})
			id := f.next().ID
			var other *pendingCall
			var otherID mcp.ID
			if !tt.alone {
				other = startCall(t.Context(), c, &mcp.Request{Method: "other"})
				otherID = f.next().ID
			}
			f.writeLine("%s", strings.ReplaceAll(tt.text, "ID", string(id)))
			<-failing.done
			checkAnswerError(t, failing.err, strings.ReplaceAll(tt.says, `: 1}`, `: `+string(id)+`}`))
			if other != nil {
				f.answer(otherID, `"fine"`)
				if got := other.waitResult(t); got != `"fine"` {
					t.Errorf("the other request got %s", got)
				}
			}
			f.answer(listenID, `"heard"`)
			if got := listening.waitResult(t); got != `"heard"` {
				t.Errorf("the subscription got %s", got)
			}
		})
	}
}

// While several requests wait, an answer without an id belongs to none of them. Other output of a server
// never counts as an answer.
func TestConnUnreadableAnswersOfNobody(t *testing.T) {
	t.Parallel()
	noise := make(chan string, 20)
	c, f := newConn(t, ignoringHandler{}, &mcp.ConnOptions{Noise: func(frame []byte, _ error) { noise <- string(frame) }}, 0)
	a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
	aID := f.next().ID
	lines := []string{
		`{"level":"info","id":` + string(aID) + `,"msg":"a log line"}`, `{"result":"ok","msg":"another"}`, `{"level":NaN}`, `result: {"id":1}`,
		`{"jsonrpc":"2.0","id":` + string(aID) + `,"method":"x","params":{"a":NaN}}`, `{"jsonrpc":"2.0","id":77,"result":NaN}`,
		// The id can be read but has a type that our ids never have, so it is not ours.
		`{"jsonrpc":"2.0","id":true,"result":{}}`, `{"jsonrpc":"2.0","id":{"a":[1]},"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":[1],"result":NaN}`,
		`{"jsonrpc":"2.0","id":1.5,"result":NaN}`, `{"jsonrpc":"2.0","id":"x","result":NaN}`, `[{"jsonrpc":"2.0","result":{}}]`, `[1,2]`, `null`,
	}
	for _, line := range lines {
		f.writeLine("%s", line)
	}
	b := startCall(t.Context(), c, &mcp.Request{Method: "y"})
	bID := f.next().ID
	lines = append(lines, `{"jsonrpc":"2.0","result":NaN}`, `{"jsonrpc":"2.0","id":null,"error":7}`)
	for _, line := range lines[len(lines)-2:] {
		f.writeLine("%s", line)
	}
	f.writeLine(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"which?"}}`)
	f.answer(aID, `"a"`)
	f.answer(bID, `"b"`)
	if a.waitResult(t) != `"a"` || b.waitResult(t) != `"b"` {
		t.Error("a request was failed by what was not its answer")
	}
	for _, line := range lines {
		if got := <-noise; got != line {
			t.Errorf("noise %q, want %q", got, line)
		}
	}
}

// An error without an id answers the only waiting request: the server could not read its id.
func TestConnErrorWithoutID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{`"id":null,`, ``} {
		c, f := newConn(t, ignoringHandler{}, nil, 0)
		a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
		f.next()
		f.writeLine(`{"jsonrpc":"2.0",%s"error":{"code":-32700,"message":"Parse error"}}`, id)
		if got := a.waitResult(t); got != `{"code":-32700,"message":"Parse error"}` {
			t.Errorf("answer %s", got)
		}
	}
}

// The same over HTTP, in a JSON body and in an event of a stream.
func TestHTTPUnreadableAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/json", "text/event-stream"} {
		for _, tt := range unreadableAnswers {
			t.Run(kind+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				url := startServer(t, func(w http.ResponseWriter, r *http.Request, _ receivedRequest) {
					text := strings.ReplaceAll(tt.text, "ID", "1")
					if kind == "application/json" {
						answerJSON(w, text)
						return
					}
					writeEvents(w, notificationEvent("a"), "data: "+text+"\n\n", notificationEvent("b"))
					<-r.Context().Done() // it sends nothing more, and does not end
				})
				_, err := dialHTTP(t, url, newHandlerLog(), nil).Call(t.Context(), &mcp.Request{Method: "tools/call"})
				checkAnswerError(t, err, tt.says)
			})
		}
	}
}

// A byte order mark is not part of a message. A response with the request's id is its answer, whatever the
// status.
func TestHTTPOddButReadable(t *testing.T) {
	t.Parallel()
	const mark = "\uFEFF"
	for name, serve := range map[string]func(w http.ResponseWriter, p receivedRequest){
		"mark in JSON": func(w http.ResponseWriter, p receivedRequest) { answerJSON(w, mark+responseTo(p, `{}`)) },
		"mark in an event": func(w http.ResponseWriter, p receivedRequest) {
			writeEvents(w, "data: "+mark+responseTo(p, `{}`)+"\n\n")
		},
		"mark and blanks": func(w http.ResponseWriter, p receivedRequest) { answerJSON(w, "\n"+mark+" "+responseTo(p, `{}`)+"\n") },
		"result under 500": func(w http.ResponseWriter, p receivedRequest) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, responseTo(p, `{}`))
		},
		"mark under 500": func(w http.ResponseWriter, p receivedRequest) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, mark+responseTo(p, `{}`))
		},
		"id written as 1.0": func(w http.ResponseWriter, _ receivedRequest) {
			answerJSON(w, `{"jsonrpc":"2.0","id":1.0,"result":{}}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := startServer(t, func(w http.ResponseWriter, _ *http.Request, p receivedRequest) { serve(w, p) })
			r, err := dialHTTP(t, url, nil, nil).Call(t.Context(), &mcp.Request{Method: "tools/call"})
			if err != nil || string(r.Result) != `{}` {
				t.Errorf("got %s, %v", r.Result, err)
			}
		})
	}
}

// However a response is broken, if its id can be read, its own request fails and no other.
func TestConnBrokenResponsesFindTheirRequest(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 11))
	c, f := newConn(t, ignoringHandler{}, nil, 0)
	bystander := startCall(t.Context(), c, &mcp.Request{Method: "other"})
	bystanderID := f.next().ID
	for n := range 400 {
		a := startCall(t.Context(), c, &mcp.Request{Method: "x"})
		id := string(f.next().ID)
		if rng.IntN(3) == 0 {
			id = `"` + id + `"`
		}
		members := []string{`"jsonrpc":"2.0"`, `"id":` + id, `"result":` + brokenValue(rng, string(bystanderID))}
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		text := "{" + strings.Join(members, []string{",", ", ", " , "}[rng.IntN(3)]) + "}"
		if json.Valid([]byte(text)) {
			t.Fatalf("not broken: %s", text)
		}
		f.writeLine("%s", text)
		<-a.done
		if _, ok := errors.AsType[*mcp.AnswerError](a.err); !ok {
			t.Fatalf("round %d: %s gave %v", n, text, a.err)
		}
	}
	f.answer(bystanderID, `"untouched"`)
	if got := bystander.waitResult(t); got != `"untouched"` {
		t.Errorf("the bystander got %s", got)
	}
}

// brokenValue returns a value that is not JSON and contains misleading text such as another request's id.
func brokenValue(rng *rand.Rand, other string) string {
	bad := []string{"NaN", "-Infinity", "undefined", "None", "True", "01", "1.", ".5", "+1", "'x'", "[1,]", "{\"a\" 1}", "\"\\x41\"", "\"a\tb\""}[rng.IntN(14)]
	trap := fmt.Sprintf(`{"id":%s,"jsonrpc":"2.0"}`, other)
	return []string{
		bad,
		`{"a":` + bad + `,"b":` + trap + `}`,
		`[` + trap + `,` + bad + `]`,
		`{"text":"{\"id\":` + other + `}","v":[` + bad + `,` + trap + `]}`,
	}[rng.IntN(4)]
}
