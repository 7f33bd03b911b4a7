package responses

import (
	"encoding/json"
	"fmt"
	"io"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// This file reads the stream of events with which the API answers.

// event is one event of an answer; Type says which of the other fields it has.
type event struct {
	Type     string          `json:"type"`
	ItemID   string          `json:"item_id"`
	Delta    string          `json:"delta"`
	Args     string          `json:"arguments"`
	Item     json.RawMessage `json:"item"`
	Response response        `json:"response"`
	Summary  int             `json:"summary_index"`
}

type response struct {
	ID         string          `json:"id"`
	Model      string          `json:"model"`
	Error      json.RawMessage `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage *struct {
		Input   int64 `json:"input_tokens"`
		Output  int64 `json:"output_tokens"`
		Details struct {
			Cached int64 `json:"cached_tokens"`
		} `json:"input_tokens_details"`
		Outputs struct {
			Reasoning int64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

type item struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Args      string `json:"arguments"`
	Encrypted string `json:"encrypted_content"`
}

// decoder assembles an answer from what the API sends. It implements [wire.Decoder].
type decoder struct {
	answer  wire.Answer
	refused bool
	summary int // index of the summary paragraph written last
}

// Feed implements [wire.Decoder].
func (d *decoder) Feed(f wire.Frame, out []llm.Event) ([]llm.Event, error) {
	err := d.addFrame(f)
	return d.answer.Take(out), err
}

func (d *decoder) addFrame(f wire.Frame) error {
	var e event
	if err := json.Unmarshal(f.Data, &e); err != nil {
		return wire.DecodeError(err)
	}
	switch e.Type {
	case "response.created":
		d.answer.Start(e.Response.Model, e.Response.ID)
	case "response.output_text.delta":
		d.answer.Text(e.Delta)
	case "response.refusal.delta":
		d.refused = true
		d.answer.Text(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		if e.Summary > d.summary { // begins a new paragraph
			d.summary = e.Summary
			e.Delta = "\n\n" + e.Delta
		}
		d.answer.Reasoning(e.Delta, nil)
	case "response.function_call_arguments.delta":
		return d.answer.Args(e.ItemID, e.Delta)
	case "response.function_call_arguments.done":
		return d.answer.ArgsIfNone(e.ItemID, e.Args)
	case "response.output_item.added", "response.output_item.done":
		return d.addItem(e)
	case "response.completed", "response.incomplete":
		return d.finish(e)
	case "response.failed":
		if err := wire.FrameError(append(append([]byte(`{"error":`), orNull(e.Response.Error)...), '}')); err != nil {
			return err
		}
		return &llm.Error{Class: llm.ClassTransient, Message: "the response failed, and the provider does not say why"}
	case "", "error": // an error may come without a type
		if err := wire.FrameError(f.Data); err != nil {
			return err
		}
	}
	return nil
}

func orNull(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("null")
	}
	return raw
}

// addItem begins or ends an item. Encrypted reasoning is kept with all its fields, because later requests must send it back.
func (d *decoder) addItem(e event) error {
	var it item
	if err := json.Unmarshal(e.Item, &it); err != nil {
		return wire.DecodeError(err)
	}
	done := e.Type == "response.output_item.done"
	switch {
	case it.Type == "function_call":
		if !d.answer.HasCall(it.ID) {
			d.answer.Call(it.ID, it.CallID, it.Name)
		}
		if done {
			if err := d.answer.ArgsIfNone(it.ID, it.Args); err != nil {
				return err
			}
			d.answer.EndCall(it.ID, nil)
		}
	case it.Type == "reasoning" && !done:
		d.summary = 0
		d.answer.Close()
	case it.Type == "reasoning" && it.Encrypted != "":
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(e.Item, &fields); err != nil {
			return wire.DecodeError(err)
		}
		delete(fields, "status") // requests must not contain it
		d.answer.Reasoning("", fields)
	case it.Type == "message" && !done:
		d.answer.Close()
	}
	return nil
}

// finish takes the usage and the finish reason from the last event, and ends the answer.
func (d *decoder) finish(e event) error {
	d.answer.Start(e.Response.Model, e.Response.ID)
	if u := e.Response.Usage; u != nil {
		d.answer.Usage(llm.Usage{Input: u.Input, Cached: u.Details.Cached, Output: u.Output, Reasoning: u.Outputs.Reasoning})
	}
	finish := llm.FinishStop
	switch reason := e.Response.Incomplete.Reason; {
	case reason == "content_filter":
		finish = llm.FinishFiltered
	case e.Type == "response.incomplete":
		finish = llm.FinishLength
	case d.refused:
		finish = llm.FinishRefusal
	}
	d.answer.Finish(finish)
	return nil
}

// End implements [wire.Decoder]. It is called if the stream ends before the last event of an answer, so it returns an error.
func (d *decoder) End(out []llm.Event) ([]llm.Event, error) {
	return d.answer.Take(out), fmt.Errorf("no response.completed: %w", io.ErrUnexpectedEOF)
}
