package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"collie/internal/llm"
)

// This file shortens a conversation that does not fit the context of the model.

const (
	maxCompactions = 3       // summaries in one turn
	spareTokens    = 2048    // reserved for the answer at least; also the length of a summary at most
	oldResult      = 1 << 10 // bytes kept of an older result, in a summary or when nothing else can be removed
)

// The policies for a conversation that is too long; the default is to summarize it.
const (
	policyTruncate = "truncate"
	policyFail     = "fail"
)

// shortenToFit shortens the conversation, and rebuilds req from it, until req fits the context of the model by estimate.
func (r *run) shortenToFit(ctx context.Context, req *llm.Request) error {
	if r.info.Context <= 0 {
		return nil
	}
	spare := max(spareTokens, req.MaxOutput)
	room := r.info.Context - min(spare, r.info.Context/2)
	for {
		n := estimateTokens(req.System, req.Tools, req.Messages)
		if n <= room {
			return nil
		}
		tooLong := &llm.Error{
			Class: llm.ClassContext, Provider: r.info.Provider, Model: r.info.Name,
			Message: fmt.Sprintf("the conversation is about %d tokens long, %d fit", n, room),
			Hint:    "begin a new session, or choose a model with a longer context",
		}
		if err := r.shortenConversation(ctx, tooLong); err != nil {
			return err
		}
		*req = *r.nextRequest(req.NoTools)
	}
}

// shortenConversation removes something as the policy says. It returns tooLong if nothing can be removed.
func (r *run) shortenConversation(ctx context.Context, tooLong error) error {
	switch {
	case r.turn.Config.ContextPolicy == policyFail:
		return tooLong
	case r.turn.Config.ContextPolicy == policyTruncate:
		if r.dropOldest() {
			return nil
		}
	case r.summaries < maxCompactions && r.canSummarize():
		r.summaries++
		done, err := r.summarize(ctx)
		if done || err != nil {
			return err
		}
		r.sink.Notice("not_compacted", "the model wrote no summary of the earlier part of the conversation; what does not fit is left out of this turn")
		if r.dropOldest() {
			return nil
		}
	}
	if r.shortenResults() {
		return nil
	}
	return tooLong
}

// dropOldest removes the oldest user message and everything up to the next one, but never the message being answered. It
// reports whether there was something to remove.
func (r *run) dropOldest() bool {
	for i := 1; i < len(r.before); i++ {
		if r.before[i].Role == llm.RoleUser {
			r.before = r.before[i:]
			return true
		}
	}
	return false
}

// shortenResults cuts the tool results of this turn, except those that the model has not answered yet. It reports whether
// it cut any.
func (r *run) shortenResults() (done bool) {
	answered := len(r.since) // up to the model's last message; messages of the person may follow the newest results
	for answered > 0 && r.since[answered-1].Role != llm.RoleAssistant {
		answered--
	}
	for i := range r.since[:answered] {
		if r.since[i].Role != llm.RoleTool {
			continue
		}
		for j := range r.since[i].Parts {
			if p := &r.since[i].Parts[j]; len(p.Text) > oldResult+64 {
				p.Text = p.Text[:cutPoint(p.Text, oldResult)] + "\n[the rest is left out: the conversation had become too long]"
				p.Files = nil
				done = true
			}
		}
	}
	return done
}

// canSummarize reports whether there is more than a summary before the message being answered.
func (r *run) canSummarize() bool {
	return slices.ContainsFunc(r.before[:max(len(r.before)-1, 0)], func(m llm.Message) bool {
		return m.Role != llm.RoleUser || slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Code != llm.CodeSummary })
	})
}

// summarize replaces the messages before the one being answered by a summary that the model writes. It reports false if the
// model wrote none, having thought for as long as it may, say, or refused: storing that would lose the conversation.
func (r *run) summarize(ctx context.Context) (done bool, err error) {
	old := r.before[:len(r.before)-1]
	text := renderForSummary(old)
	if room := r.info.Context; room > 0 {
		text = lastTokens(text, (room-min(spareTokens, room/2))/2) // the latest messages matter most; half, because tokens are estimated
	}
	req := &llm.Request{
		Model: r.info.Name, Session: r.turn.Session, MaxOutput: spareTokens, Effort: llm.EffortOff,
		System:   "You shorten conversations. Keep facts, decisions, names, paths, ids and what is still open; leave out how they were found. Write in the language of the conversation.",
		Messages: []llm.Message{userMessage("Shorten this conversation to what is needed to go on with it:\n\n" + strings.ToValidUTF8(text, ""))},
	}
	var short strings.Builder
	var used llm.Usage
	var finish llm.Finish
	who := llm.Event{Provider: r.info.Provider, Model: r.info.Name}
	for e, err := range r.model.Stream(ctx, req) {
		if err != nil {
			return false, err
		}
		switch e.Kind {
		case llm.EventText:
			short.WriteString(e.Text)
		case llm.EventUsage:
			used = e.Usage
		case llm.EventStart:
			who = e
		case llm.EventFinish:
			finish = e.Finish
		default:
		}
	}
	r.addUsage(who, used)
	if strings.TrimSpace(short.String()) == "" || finish == llm.FinishRefusal || finish == llm.FinishFiltered {
		return false, nil
	}
	left, err := r.sink.Summarize(ctx, 1, short.String())
	if err != nil {
		return false, err
	}
	r.sink.Notice("compacted", "the earlier part of the conversation was summarized for the model; nothing of it is lost")
	r.before = left
	return true, nil
}

// renderForSummary renders a conversation as text.
func renderForSummary(messages []llm.Message) string {
	var b strings.Builder
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case llm.PartText:
				fmt.Fprintf(&b, "%s: %s\n\n", m.Role, p.Text)
			case llm.PartToolCall:
				fmt.Fprintf(&b, "call %s %s\n", p.Name, p.Args)
			case llm.PartToolResult:
				fmt.Fprintf(&b, "result: %s\n\n", p.Text[:cutPoint(p.Text, oldResult)])
			case llm.PartReasoning, llm.PartFile, llm.PartNotice:
			}
		}
	}
	return b.String()
}
