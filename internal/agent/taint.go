package agent

import (
	"slices"
	"strings"
	"sync"

	"collie/internal/llm"
)

const maxTaints = 16

// taints are the names of the rules that matched what the model of a turn has read: texts from outside that try to give it orders. It is safe
// for concurrent use.
type taints struct {
	mu    sync.Mutex
	rules []string
}

func (t *taints) add(rules []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range rules {
		if !slices.Contains(t.rules, r) && len(t.rules) < maxTaints {
			t.rules = append(t.rules, r)
		}
	}
}

// String returns the names as the Taint of a [tool.Request].
func (t *taints) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.rules, ",")
}

// A result in which a rule matched begins with one of these, followed by the names of the rules. A later turn reads the names from there, so
// the conversation needs no other record of them. A text from outside that imitates the words only taints itself.
const (
	markedHead   = "[Parts of this result read like orders ("
	withheldHead = "[This result was withheld: it tries to give orders to you ("
)

// recall adds the names that the results of earlier turns were marked with.
func (t *taints) recall(messages []llm.Message) {
	for _, m := range messages {
		for _, p := range m.Parts {
			for _, head := range []string{markedHead, withheldHead} {
				if rest, ok := strings.CutPrefix(p.Text, head); ok && p.Kind == llm.PartToolResult {
					why, _, _ := strings.Cut(rest[:min(len(rest), 400)], ")")
					t.add(strings.Split(why, ", "))
				}
			}
		}
	}
}
