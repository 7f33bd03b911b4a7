package ollama

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// This file reads the lines of JSON with which the API answers.

// line is one line of an answer: a piece of it, or with Done set its end.
type line struct {
	Model   string `json:"model"`
	Message struct {
		Content  string `json:"content"`
		Thinking string `json:"thinking"`
		Calls    []struct {
			ID       string `json:"id"`
			Function struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"message"`
	Done   bool   `json:"done"`
	Reason string `json:"done_reason"`
	Prompt int64  `json:"prompt_eval_count"`
	Answer int64  `json:"eval_count"`
}

// decoder assembles an answer from what the API sends. It implements [wire.Decoder].
type decoder struct {
	answer wire.Answer
	tags   wire.ThinkTags
	calls  int
}

// Feed implements [wire.Decoder].
func (d *decoder) Feed(f wire.Frame, out []llm.Event) ([]llm.Event, error) {
	err := d.addFrame(f)
	return d.answer.Take(out), err
}

func (d *decoder) addFrame(f wire.Frame) error {
	if e := wire.FrameError(f.Data); e != nil {
		return e
	}
	var l line
	if err := json.Unmarshal(f.Data, &l); err != nil {
		return wire.DecodeError(err)
	}
	d.answer.Start(l.Model, "")
	d.answer.Reasoning(l.Message.Thinking, nil)
	d.tags.Add(&d.answer, l.Message.Content)
	for _, c := range l.Message.Calls {
		d.tags.End(&d.answer)
		d.calls++
		if err := d.answer.CompleteCall(strconv.Itoa(d.calls), c.ID, c.Function.Name, string(c.Function.Args), nil); err != nil {
			return err
		}
	}
	if !l.Done {
		return nil
	}
	d.tags.End(&d.answer)
	d.answer.Usage(llm.Usage{Input: l.Prompt, Output: l.Answer})
	switch l.Reason {
	case "length":
		d.answer.Finish(llm.FinishLength)
	case "load", "unload":
		return &llm.Error{Class: llm.ClassTransient, Message: "the model was loaded or unloaded and did not answer"}
	default:
		d.answer.Finish(llm.FinishStop)
	}
	return nil
}

// End implements [wire.Decoder]. It always fails, because an answer ends with a line that is marked as the last.
func (d *decoder) End(out []llm.Event) ([]llm.Event, error) {
	return d.answer.Take(out), fmt.Errorf("no line with done: %w", io.ErrUnexpectedEOF)
}
