package agent

import (
	"time"

	"collie/internal/tool"
)

// defaultSilence is the default of [Programs.Silence].
const defaultSilence = 2 * time.Minute

// watchSilence ends the turn if the agent sends nothing for the duration silence. The caller must call stop.
func (f *foreignTurn) watchSilence(silence time.Duration) (stop func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silence = silence
	f.timer = time.AfterFunc(silence, f.checkSilence)
	return func() { f.timer.Stop() }
}

// restartSilence restarts the timer of watchSilence. f.mu must be held.
func (f *foreignTurn) restartSilence() {
	if f.timer != nil {
		f.timer.Reset(f.silence)
	}
}

// checkSilence ends the turn, unless a call is running or a question is open.
func (f *foreignTurn) checkSilence() {
	f.mu.Lock()
	defer f.mu.Unlock()
	busy := f.working > 0
	for _, c := range f.own {
		busy = busy || c.shown && !c.closed // a call that runs may be silent, such as a long build
	}
	if busy {
		f.restartSilence()
		return
	}
	f.watch.cancel(&tool.Error{
		Op: "agent", Kind: tool.Timeout, Subject: f.files.agent.Name, Message: "it showed no activity for " + f.silence.String(), Hint: "send the message again",
	})
}
