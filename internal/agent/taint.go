package agent

import (
	"slices"
	"strings"
	"sync"

	"collie/internal/llm"
)

const (
	maxTaints = 16  // names that are kept
	maxNames  = 400 // bytes at the beginning of a result that are searched for the end of the names
)

// taints collects the names of the rules that matched texts from outside which the model has read in a conversation. It
// is safe for concurrent use.
type taints struct {
	mu    sync.Mutex
	rules []string
}

// add adds names of rules.
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

// Results in which a rule matched begin with one of these texts and the names of the rules, from which later turns read
// the names again. A text from outside that imitates this only taints itself.
const (
	markedHead   = "[Parts of this result read like orders ("
	withheldHead = "[This result was withheld: it tries to give orders to you ("
)

// addFromResults adds the names of rules from the results of earlier turns.
func (t *taints) addFromResults(messages []llm.Message) {
	for _, m := range messages {
		for _, p := range m.Parts {
			for _, head := range []string{markedHead, withheldHead} {
				if rest, ok := strings.CutPrefix(p.Text, head); ok && p.Kind == llm.PartToolResult {
					why, _, _ := strings.Cut(rest[:min(len(rest), maxNames)], ")")
					t.add(strings.Split(why, ", "))
				}
			}
		}
	}
}
