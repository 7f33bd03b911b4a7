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

// broken are unreadable answers, with ID in place of the request's id, and the error expected for each.
var broken = []struct {
	name, text, says string
	alone            bool // it has no id, so with several waiting requests it belongs to none
}{
	{"NaN", `{"jsonrpc":"2.0","id":ID,"result":{"x":NaN}}`, `byte 38: expected a value, found "NaN}}"`, false},
	{"Infinity before the id", `{"jsonrpc": "2.0", "result": {"x": -Infinity}, "id": ID}`, `byte 35: invalid number, found "-Infinity}, \"id\": 1}"`, false},
	{"too deep", `{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat("[", 1500) + strings.Repeat("]", 1500) + `}`, `byte 1032: nested deeper than 1000`, false},
	{"too deep, id behind", `{"result":` + strings.Repeat(`{"a":`, 1500) + `1` + strings.Repeat("}", 1500) + `,"id":ID}`, `nested deeper than 1000`, false},
	{"truncated", `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"id":7}`, `found its end`, false},
	{"truncated before the id", `{"jsonrpc":"2.0","result":{"content":[{"id":7}`, `found its end`, true},
	{"truncated in a string", `{"jsonrpc":"2.0","id":ID,"result":{"text":"abc`, `string without an end`, false},
	{"control character", "{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"text\":\"a\tb\"}}", `control character`, false},
	{"quote in a string", `{"jsonrpc":"2.0","result":{"text":"a "b" c"},"id":ID}`, `expected , or }`, false},
	{"no outcome", `{"jsonrpc":"2.0","id":ID}`, `expected "method", "result" or "error"`, false},
	{"error is a number", `{"jsonrpc":"2.0","id":ID,"error":-32700}`, `member "error" must be an object`, false},
	{"error is a number, no id", `{"jsonrpc":"2.0","id":null,"error":-32700}`, `member "error" must be an object`, true},
	{"result without an id", `{"jsonrpc":"2.0","result":{}}`, `a result without an "id"`, true},
	{"id twice", `{"jsonrpc":"2.0","id":ID,"id":ID,"result":{}}`, `member "id"`, false},
	{"text behind it", `{"jsonrpc":"2.0","id":ID,"result":{}} done`, `text after the end of the message, found "done"`, false},
}

func checkUnreadable(t *testing.T, err error, says string) {
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
	for _, tt := range broken {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, f := newConn(t, nothing{}, nil, 0)
			listening := ask(t.Context(), c, &mcp.Request{Method: "subscriptions/listen"})
			listenID := f.next().ID
			failing := ask(t.Context(), c, &mcp.Request{Method: "x"})
			id := f.next().ID
			var other *asked
			var otherID mcp.ID
			if !tt.alone {
				other = ask(t.Context(), c, &mcp.Request{Method: "other"})
				otherID = f.next().ID
			}
			f.say("%s", strings.ReplaceAll(tt.text, "ID", string(id)))
			<-failing.done
			checkUnreadable(t, failing.err, strings.ReplaceAll(tt.says, `: 1}`, `: `+string(id)+`}`))
			if other != nil {
				f.answer(otherID, `"fine"`)
				if got := other.result(t); got != `"fine"` {
					t.Errorf("the other request got %s", got)
				}
			}
			f.answer(listenID, `"heard"`)
			if got := listening.result(t); got != `"heard"` {
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
	c, f := newConn(t, nothing{}, &mcp.ConnOptions{Noise: func(frame []byte, _ error) { noise <- string(frame) }}, 0)
	a := ask(t.Context(), c, &mcp.Request{Method: "x"})
	aID := f.next().ID
	lines := []string{
		`{"level":"info","id":` + string(aID) + `,"msg":"a log line"}`, `{"result":"ok","msg":"another"}`, `{"level":NaN}`, `result: {"id":1}`,
		`{"jsonrpc":"2.0","id":` + string(aID) + `,"method":"x","params":{"a":NaN}}`, `{"jsonrpc":"2.0","id":77,"result":NaN}`,
		// The id can be read but has a type that our ids never have, so it is not ours.
		`{"jsonrpc":"2.0","id":true,"result":{}}`, `{"jsonrpc":"2.0","id":{"a":[1]},"error":{"code":1,"message":"m"}}`, `{"jsonrpc":"2.0","id":[1],"result":NaN}`,
		`{"jsonrpc":"2.0","id":1.5,"result":NaN}`, `{"jsonrpc":"2.0","id":"x","result":NaN}`, `[{"jsonrpc":"2.0","result":{}}]`, `[1,2]`, `null`,
	}
	for _, line := range lines {
		f.say("%s", line)
	}
	b := ask(t.Context(), c, &mcp.Request{Method: "y"})
	bID := f.next().ID
	lines = append(lines, `{"jsonrpc":"2.0","result":NaN}`, `{"jsonrpc":"2.0","id":null,"error":7}`)
	for _, line := range lines[len(lines)-2:] {
		f.say("%s", line)
	}
	f.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"which?"}}`)
	f.answer(aID, `"a"`)
	f.answer(bID, `"b"`)
	if a.result(t) != `"a"` || b.result(t) != `"b"` {
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
		c, f := newConn(t, nothing{}, nil, 0)
		a := ask(t.Context(), c, &mcp.Request{Method: "x"})
		f.next()
		f.say(`{"jsonrpc":"2.0",%s"error":{"code":-32700,"message":"Parse error"}}`, id)
		if got := a.result(t); got != `{"code":-32700,"message":"Parse error"}` {
			t.Errorf("answer %s", got)
		}
	}
}

// The same over HTTP, in a JSON body and in an event of a stream.
func TestHTTPUnreadableAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/json", "text/event-stream"} {
		for _, tt := range broken {
			t.Run(kind+" "+tt.name, func(t *testing.T) {
				t.Parallel()
				url := serveFunc(t, func(w http.ResponseWriter, r *http.Request, _ post) {
					text := strings.ReplaceAll(tt.text, "ID", "1")
					if kind == "application/json" {
						answerJSON(w, text)
						return
					}
					stream(w, mayBeDropped("a"), "data: "+text+"\n\n", mayBeDropped("b"))
					<-r.Context().Done() // it sends nothing more, and does not end
				})
				_, err := dial(t, url, newHeard(), nil).Call(t.Context(), &mcp.Request{Method: "tools/call"})
				checkUnreadable(t, err, tt.says)
			})
		}
	}
}

// A byte order mark is not part of a message. A response with the request's id is its answer, whatever the
// status.
func TestHTTPOddButReadable(t *testing.T) {
	t.Parallel()
	const mark = "\uFEFF"
	for name, serve := range map[string]func(w http.ResponseWriter, p post){
		"mark in JSON":     func(w http.ResponseWriter, p post) { answerJSON(w, mark+result(p, `{}`)) },
		"mark in an event": func(w http.ResponseWriter, p post) { stream(w, "data: "+mark+result(p, `{}`)+"\n\n") },
		"mark and blanks":  func(w http.ResponseWriter, p post) { answerJSON(w, "\n"+mark+" "+result(p, `{}`)+"\n") },
		"result under 500": func(w http.ResponseWriter, p post) { w.WriteHeader(500); _, _ = io.WriteString(w, result(p, `{}`)) },
		"mark under 500": func(w http.ResponseWriter, p post) {
			w.WriteHeader(500)
			_, _ = io.WriteString(w, mark+result(p, `{}`))
		},
		"id written as 1.0": func(w http.ResponseWriter, _ post) { answerJSON(w, `{"jsonrpc":"2.0","id":1.0,"result":{}}`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := serveFunc(t, func(w http.ResponseWriter, _ *http.Request, p post) { serve(w, p) })
			r, err := dial(t, url, nil, nil).Call(t.Context(), &mcp.Request{Method: "tools/call"})
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
	c, f := newConn(t, nothing{}, nil, 0)
	bystander := ask(t.Context(), c, &mcp.Request{Method: "other"})
	bystanderID := f.next().ID
	for n := range 400 {
		a := ask(t.Context(), c, &mcp.Request{Method: "x"})
		id := string(f.next().ID)
		if rng.IntN(3) == 0 {
			id = `"` + id + `"`
		}
		members := []string{`"jsonrpc":"2.0"`, `"id":` + id, `"result":` + spoil(rng, string(bystanderID))}
		rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		text := "{" + strings.Join(members, []string{",", ", ", " , "}[rng.IntN(3)]) + "}"
		if json.Valid([]byte(text)) {
			t.Fatalf("not broken: %s", text)
		}
		f.say("%s", text)
		<-a.done
		if _, ok := errors.AsType[*mcp.AnswerError](a.err); !ok {
			t.Fatalf("round %d: %s gave %v", n, text, a.err)
		}
	}
	f.answer(bystanderID, `"untouched"`)
	if got := bystander.result(t); got != `"untouched"` {
		t.Errorf("the bystander got %s", got)
	}
}

// spoil returns a value that is not JSON and contains misleading text such as another request's id.
func spoil(rng *rand.Rand, other string) string {
	bad := []string{"NaN", "-Infinity", "undefined", "None", "True", "01", "1.", ".5", "+1", "'x'", "[1,]", "{\"a\" 1}", "\"\\x41\"", "\"a\tb\""}[rng.IntN(14)]
	trap := fmt.Sprintf(`{"id":%s,"jsonrpc":"2.0"}`, other)
	return []string{
		bad,
		`{"a":` + bad + `,"b":` + trap + `}`,
		`[` + trap + `,` + bad + `]`,
		`{"text":"{\"id\":` + other + `}","v":[` + bad + `,` + trap + `]}`,
	}[rng.IntN(4)]
}
