package supervise_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"collie/internal/source/upstream/supervise"
	"collie/internal/tool"
	"collie/test/await"
)

// A Supervisor gives each order once, when it is due, and reports each state.
func TestSupervisor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type order struct {
			what supervise.Order
			at   time.Duration
		}
		var got []order
		var states []tool.State
		begun := time.Now()
		var s *supervise.Supervisor
		s = supervise.New(supervise.Options{
			Policy: func() supervise.Policy { return usual },
			Do: func(o supervise.Order) {
				got = append(got, order{o, time.Since(begun)})
				switch o {
				case supervise.Start:
					s.Tell(starting)
					s.Tell(ready)
				case supervise.CheckUse:
					if len(got) < 3 {
						s.Tell(postpone(time.Minute))
						return
					}
					s.Tell(stopping)
					s.Tell(stopped)
				case supervise.None:
				}
			},
			Changed: func(c supervise.Condition) { states = append(states, c.State) },
		})
		s.Tell(failed("crashed", true))
		await.Sleep(time.Hour)
		synctest.Wait()
		want := []order{
			{supervise.Start, time.Second}, {supervise.CheckUse, time.Second + 10*time.Minute}, {supervise.CheckUse, time.Second + 11*time.Minute},
		}
		if !slices.Equal(got, want) {
			t.Errorf("orders %v, want %v", got, want)
		}
		if want := []tool.State{tool.StateBackoff, tool.StateStarting, tool.StateReady, tool.StateStopping, tool.StateIdle}; !slices.Equal(states, want) {
			t.Errorf("states %v, want %v", states, want)
		}
	})
}

// A planned start is not given after CancelRetry, Finish or Ready, even 1 ns before it is due; an answered call leaves it. The
// timer was set for a later check, and must fire earlier for the start.
func TestSupervisorTimer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		last func(*supervise.Machine, time.Time)
		want int
	}{"an answer leaves the retry": {answered, 1}, "cancelled": {cancelRetry, 0}, "finished": {finish, 0}, "ready before the retry": {ready, 0}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				orders := 0
				s := supervise.New(supervise.Options{
					Policy: func() supervise.Policy { return usual }, Changed: func(supervise.Condition) {},
					Do: func(supervise.Order) { orders++ },
				})
				s.Tell(postpone(time.Hour))
				s.Tell(failed("crashed", true))
				await.Sleep(time.Second - 1)
				s.Tell(test.last)
				await.Sleep(time.Second)
				synctest.Wait()
				if orders != test.want {
					t.Errorf("%d orders, want %d", orders, test.want)
				}
				s.Finish()
			})
		})
	}
}

// An answer clears the count of failures.
func TestAnswered(t *testing.T) {
	t.Parallel()
	s := supervise.New(supervise.Options{
		Policy: func() supervise.Policy { return usual }, Changed: func(supervise.Condition) {}, Do: func(supervise.Order) {},
	})
	defer s.Finish()
	s.Tell(failed("crashed", false))
	s.Answered()
	if n := s.Condition().Failures; n != 0 {
		t.Errorf("%d failures after an answer", n)
	}
}
