package acceptance_test

import (
	"strings"
	"sync"
	"testing"

	"collie/internal/pipeline/gate"
	"collie/test/await"
)

// TestTwoPeopleAnswerAtOnce answers a waiting call at two terminals at the same moment, with a yes and a no. One of the
// answers decides about the call, and the other terminal says that the call has been answered already.
func TestTwoPeopleAnswerAtOnce(t *testing.T) {
	t.Parallel()
	w, s, pending := confirmWorld(t)
	for range 3 {
		client := s.openLegacy(t, s.token, `{}`)
		code, ok := strings.CutPrefix(outcomeOf(client.call(t, nil)), "code ")
		if !ok {
			t.Fatalf("no code but %s", code)
		}
		yes, no := w.terminalIn(t, s.Home, "confirm", code), w.terminalIn(t, s.Home, "confirm", code)
		yes.WaitFor("Let it run once?")
		no.WaitFor("Let it run once?")
		var both sync.WaitGroup
		both.Go(func() { yes.Type("y\r") })
		both.Go(func() { no.Type("n\r") })
		both.Wait()
		state := gate.StateWaiting
		await.Until(t, "an answer", func() bool {
			found, err := pending.Find(code)
			if err != nil {
				t.Fatal(err)
			}
			state = found.State
			return state != gate.StateWaiting
		})
		if state == gate.StateApproved {
			no.WaitFor("this call has already been confirmed")
			yes.WaitForExit(0)
			no.WaitForExit(1)
		} else {
			yes.WaitFor("this call has already been refused")
			yes.WaitForExit(1)
			no.WaitForExit(5)
		}
		want := map[gate.State]string{gate.StateApproved: "ran", gate.StateDenied: "confirmation_declined"}[state]
		if got, _, _ := strings.Cut(outcomeOf(client.call(t, nil)), " "); got != want {
			t.Errorf("%s won, and the call: %s, want %s", state, got, want)
		}
	}
}
