package agent

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"collie/internal/agent/acp"
	"collie/internal/llm"
)

// maxPlans is how often a plan is shown in one turn.
const maxPlans = 20

// showPlan shows the plan of the agent if its steps changed. Progress within the same steps is not shown, because the
// calls show it. f.mu must be held.
func (f *foreignTurn) showPlan(text string) {
	var steps []string
	for line := range strings.Lines(text) {
		_, step, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "] ")
		steps = append(steps, step)
	}
	if f.plans == maxPlans || slices.Equal(steps, f.plan) {
		return
	}
	f.plan, f.plans = steps, f.plans+1
	f.sink.Notice("plan", fmt.Sprintf("the plan of %s:\n%s", f.files.agent.Name, firstTokens(text, maxPlan)))
}

// maxPlan is the number of tokens of a plan that are shown.
const maxPlan = 1000

// recordTokens records the tokens that the agent reported at the end of its answer. Some agents count cached tokens separately
// from the input, and reasoning separately from the output; others include them. The total shows which. In the record,
// input and output include them.
func (f *foreignTurn) recordTokens(t acp.Tokens) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if t.Total == t.Input+t.CacheRead+t.CacheWrite+t.Output+t.Thought {
		t.Input, t.Output = t.Input+t.CacheRead+t.CacheWrite, t.Output+t.Thought
	}
	f.token = llm.Usage{
		Input: t.Input, Cached: min(t.CacheRead, t.Input), CacheWrite: min(t.CacheWrite, t.Input), Output: t.Output, Reasoning: min(t.Thought, t.Output),
	}
}

// showUsage shows the usage that the agent reported. Each turn is a session of its own at the agent, so these are the
// figures of the turn. Dollars, and tokens of the answer, count towards the usage. Tokens in the context are not tokens read
// and written, so they are only shown. f.mu must be held.
func (f *foreignTurn) showUsage() {
	u, name := f.usage, f.files.agent.Name
	var parts []string
	switch {
	case u.Window > 0:
		parts = append(parts, fmt.Sprintf("%d of %d tokens in its context", u.Tokens, u.Window))
	case u.Tokens > 0:
		parts = append(parts, fmt.Sprintf("%d tokens in its context", u.Tokens))
	}
	if u.Cost > 0 {
		parts = append(parts, fmt.Sprintf("cost %s %s", strconv.FormatFloat(math.Round(u.Cost*1e6)/1e6, 'f', -1, 64), u.Currency))
	}
	cost := int64(0)
	if u.Currency == "USD" {
		cost = int64(math.Round(u.Cost * 1e6))
	}
	if cost > 0 || f.token != (llm.Usage{}) {
		f.sink.Usage(engineCLI+"/"+name, "", "", f.token, cost)
	}
	if len(parts) > 0 {
		f.sink.Notice("usage", fmt.Sprintf("%s says of this answer: %s", name, strings.Join(parts, "; ")))
	}
}
