package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"collie/test/await"
)

// retryOfParked returns a modern call that presents a requestState and one answer; with an empty state it begins a
// request.
func retryOfParked(state string) *Incoming {
	raw := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","requestState":` + string(Quote(state)) + `,"inputResponses":{"ask_1":{"a":1}}}}`
	m, err := Parse([]byte(raw))
	if err != nil {
		panic(err)
	}
	return &Incoming{Message: m, Peer: &Peer{Era: Modern}}
}

// dropNotification discards the notifications of a request.
func dropNotification([]byte, kind) {}

// An answer in time is accepted; one that comes later finds the request ended.
func TestParkedRequestExpires(t *testing.T) {
	t.Parallel()
	for _, away := range []time.Duration{parkTTL - time.Millisecond, parkTTL + time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			var l parkingLot
			ended := make(chan error, 1)
			r := l.start(t.Context(), retryOfParked(""), "ada", dropNotification, func(ctx context.Context, in *Incoming) (json.RawMessage, error) {
				a, err := in.Ask(ctx, "roots/list", nil)
				ended <- err
				return a, err
			})
			result, err := l.attach(t.Context(), r)
			if err != nil || GetString(result, "resultType") != "input_required" {
				t.Fatalf("%s, %v", result, err)
			}
			await.Sleep(away)
			synctest.Wait()
			in := retryOfParked(GetString(result, "requestState"))
			state, ok := parkedState(&in.Message)
			if !ok {
				t.Fatal("not one of ours")
			}
			again, err := l.resume(state, "ada", &in.Message, dropNotification)
			if away < parkTTL {
				if err != nil {
					t.Fatal(err)
				}
				if result, err := l.attach(t.Context(), again); err != nil || string(result) != `{"a":1}` {
					t.Errorf("%s, %v", result, err)
				}
				if err := <-ended; err != nil {
					t.Error(err)
				}
			} else {
				if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeInvalidParams {
					t.Errorf("resumed with %v", err)
				}
				if err := <-ended; !errors.Is(err, errExpired) || !errors.Is(err, context.Canceled) {
					t.Errorf("ended with %v", err)
				}
			}
			l.close(ErrSessionClosed)
			if len(l.owners) > 0 || len(l.parked) > 0 {
				t.Errorf("left behind: %v", l.owners)
			}
		})
	}
}

// If the client hangs up while its request asks something, the request does not wait for it.
func TestParkedClientHangsUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l parkingLot
		ctx, cancel := context.WithCancel(t.Context())
		r := l.start(ctx, retryOfParked(""), "ada", dropNotification, func(ctx context.Context, in *Incoming) (json.RawMessage, error) {
			cancel()
			return in.Ask(ctx, "roots/list", nil)
		})
		if result, err := l.attach(ctx, r); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, %v", result, err)
		}
		l.close(ErrSessionClosed)
	})
}

// FuzzRepeats: sameParams is true for every way to write the same parameters, and false if a value differs.
func FuzzRepeats(f *testing.F) {
	for _, args := range []string{`{}`, `{"a":1,"b":[{"c":"\u00e9"}]}`, `{"a":1,"a":2}`, `[1.0,1]`, `"\ud800"`, `{"requestState":1,"_meta":{}}`} {
		f.Add(args)
	}
	f.Fuzz(func(t *testing.T, args string) {
		if !json.Valid([]byte(args)) || checkJSON([]byte(args)) != nil {
			t.Skip("not JSON that reaches this")
		}
		parked := &Message{Params: json.RawMessage(`{"name":"x","arguments":` + args + `,"_meta":{"p":1}}`)}
		retry := &Message{Params: json.RawMessage(`{"_meta":{},"requestState":"s","inputResponses":{}, "name" : "x","arguments":` + args + `}`)}
		if !sameParams(parked, parked) {
			t.Errorf("%s does not repeat itself", parked.Params)
		}
		if v := jsontext.Value(args); v.Format() == nil && !sameParams(retry, parked) { // if Format fails, a name occurs twice
			t.Errorf("%s does not repeat %s", retry.Params, parked.Params)
		}
		other := &Message{Params: json.RawMessage(`{"name":"x","arguments":[` + args + `]}`)}
		if sameParams(other, parked) {
			t.Errorf("%s repeats %s", other.Params, parked.Params)
		}
	})
}
