package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/pipeline/guardian"
	"collie/internal/tool"
)

// This file executes the tool calls that a model requests in one step, through the pipeline.

const (
	maxParallel = 8         // calls of one step that run at the same time
	maxStepSize = 256 << 10 // bytes of all results of one step, as long as each has minResult
	minResult   = 1 << 10   // bytes of a result that are left of it however long those before it are
	maxCalls    = 100       // calls of one turn
	answerGrace = 2 * time.Second
)

// call is a tool call that a model requested.
type call struct {
	id, name, rawArgs string // rawArgs are the arguments as the model wrote them

	step   int
	taint  string // see [tool.Request]
	args   json.RawMessage
	err    error  // why it is not executed
	lane   string // calls in the same lane run one after the other; empty for a call that only reads
	result llm.Part
	state  chat.CallState
}

// callAll executes the calls of one step and returns a result for each, in the same order. Calls that only read run in
// parallel. A call with effects waits for earlier ones on the same source.
func (r *run) callAll(ctx context.Context, step int, calls []*call) []llm.Part {
	lanes := map[string][]*call{}
	var order []string
	taint := r.taints.String() // of the texts that the model has read before these calls
	for i, c := range calls {
		c.step, c.taint = step, taint
		r.prepare(ctx, c)
		lane := c.lane
		if lane == "" {
			lane = fmt.Sprint(i) // sources' names are not numbers: entries begin with a letter
		}
		if lanes[lane] == nil {
			order = append(order, lane)
		}
		lanes[lane] = append(lanes[lane], c)
		r.sink.Proposed(step, chat.ToolCall{ID: c.id, Name: c.name, Args: c.args})
	}
	slots := make(chan struct{}, maxParallel)
	var all sync.WaitGroup
	for _, lane := range order {
		all.Go(func() {
			for _, c := range lanes[lane] {
				slots <- struct{}{}
				r.execute(ctx, c)
				<-slots
			}
		})
	}
	all.Wait()
	results, left := make([]llm.Part, len(calls)), maxStepSize
	for i, c := range calls {
		results[i] = r.truncate(context.WithoutCancel(ctx), c.result, left)
		left = max(left-len(results[i].Text), minResult)
	}
	return results
}

// prepare parses the arguments of c and resolves it, to find out whether it has effects.
func (r *run) prepare(ctx context.Context, c *call) {
	c.args, c.err = parseArgs(c.rawArgs)
	if c.err != nil {
		c.args = json.RawMessage(`{}`)
		return
	}
	r.callCount++
	switch {
	case r.callCount > maxCalls:
		c.err = &tool.Error{Op: "call", Kind: tool.Busy, Subject: c.name, Message: fmt.Sprintf("this turn has made %d calls, no more are made", maxCalls), Hint: "answer with what is known"}
	case !r.set.has(c.name):
		c.err = r.set.unknownError(c.name)
	case c.name == outputTool, c.name == skillTool:
	default:
		resolved, err := r.agent.opts.Pipeline.Resolve(ctx, r.newRequest(c))
		switch {
		case err == nil:
			c.err = r.files.checkLevel(resolved)
		case r.files.agent.Level != "": // what it would do is not known
			c.err = err
		}
		if err == nil && resolved.HasEffects() && resolved.Source != nil {
			c.lane = resolved.Source.Name()
		}
	}
}

// newRequest returns c as a request to the pipeline.
func (r *run) newRequest(c *call) tool.Request {
	origin := tool.Chat
	if r.typed {
		origin = tool.Direct
	}
	return tool.Request{
		Kind: tool.KindCall, Name: c.name, Args: c.args, Profile: r.set.profile, Origin: origin,
		Principal: r.turn.Principal, Client: "collie agent", Session: r.turn.Session,
		Parent: r.turn.ID + ":" + strconv.Itoa(c.step), Taint: c.taint,
		Caller: &caller{agent: r.agent, turn: r.turn, sink: r.sink, call: c.id, name: c.name, wait: r.watch},
	}
}

// execute runs c and records the result in the conversation.
func (r *run) execute(ctx context.Context, c *call) {
	start := time.Now()
	var result tool.Result
	switch {
	case c.err != nil:
	case ctx.Err() != nil:
		c.err, c.state = skippedError(ctx), chat.CallSkipped
	case c.name == outputTool:
		result, c.err = r.readOutput(ctx, c.args)
	case c.name == skillTool:
		result, c.err = r.files.readSkill(c.args)
	default:
		if err := r.sink.Executing(ctx, c.id); err != nil {
			c.err, c.state = &tool.Error{Op: "call", Kind: tool.Internal, Subject: c.name, Message: "it could not be written down that it runs, so it was not run", Err: err}, chat.CallSkipped
			break
		}
		result, c.err = r.runInPipeline(ctx, c)
	}
	c.result = llm.Part{Kind: llm.PartToolResult, Call: c.id, Name: c.name}
	switch {
	case c.err != nil:
		c.result.Text, c.result.IsError = errorText(c.err), true
		if c.state == "" {
			c.state = stateOf(c.err)
		}
	default:
		c.result.Text, c.result.Files = resultText(result.Raw, r.info.Images)
		c.result.IsError = result.IsError
		if c.state = chat.CallDone; result.IsError {
			c.state = chat.CallFailed
		}
	}
	c.result = r.limitResult(context.WithoutCancel(ctx), c.result)
	if c.name != skillTool { // the person wrote those
		c.result = r.screen(context.WithoutCancel(ctx), c.result)
	}
	r.sink.Answered(c.id, c.state, c.result, time.Since(start).Milliseconds())
}

// runInPipeline sends c through the pipeline. If the turn is cancelled meanwhile, it waits answerGrace for the outcome.
func (r *run) runInPipeline(ctx context.Context, c *call) (tool.Result, error) {
	type answer struct {
		result tool.Result
		err    error
	}
	answered := make(chan answer, 1)
	first, last := r.userTexts()
	go func() {
		result, err := r.agent.opts.Pipeline.Do(guardian.WithUserTexts(ctx, first, last), r.newRequest(c))
		answered <- answer{result, err}
	}()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-ctx.Done():
	}
	late := time.NewTimer(answerGrace)
	defer late.Stop()
	select {
	case a := <-answered:
		return a.result, a.err
	case <-late.C:
		return tool.Result{}, &tool.Error{Op: "call", Kind: tool.Canceled, Subject: c.name, Message: "the turn ended while it ran", OutcomeUnknown: true}
	}
}

// userTexts returns the first and the last text that the person wrote, which the guardian compares with calls.
func (r *run) userTexts() (first, last string) {
	for _, m := range r.turn.Path {
		if m.Role != llm.RoleUser {
			continue
		}
		for _, p := range m.Parts {
			if p.IsTyped() && p.Text != "" {
				if last = p.Text; first == "" {
					first = p.Text
				}
			}
		}
	}
	return first, last
}
