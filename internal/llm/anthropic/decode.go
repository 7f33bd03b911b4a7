package anthropic

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// This file reads the stream of events with which the API answers.

// event is one event of an answer; Type says which of the other fields it has.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Usage usage  `json:"usage"`
	} `json:"message"`
	Block struct {
		Type      string          `json:"type"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		Input     json.RawMessage `json:"input"`
	} `json:"content_block"`
	Delta struct {
		Type      string `json:"type"`
		Text      string `json:"text"`
		Thinking  string `json:"thinking"`
		Signature string `json:"signature"`
		JSON      string `json:"partial_json"`
		Stop      string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage is cumulative. A count that is missing has not changed.
type usage struct {
	Input  *int64 `json:"input_tokens"`
	Read   *int64 `json:"cache_read_input_tokens"`
	Write  *int64 `json:"cache_creation_input_tokens"`
	Output *int64 `json:"output_tokens"`
}

// decoder assembles an answer from what the API sends. It implements [wire.Decoder].
type decoder struct {
	answer wire.Answer
	stop   string
	signed map[int]string          // signatures of reasoning, by block
	whole  map[int]json.RawMessage // arguments that came complete with the start of a call, by block
	input  int64                   // tokens of input outside the cache
	usage  llm.Usage
}

func newDecoder(names map[string]string) wire.Decoder {
	return &decoder{answer: wire.Answer{Names: names}, signed: map[int]string{}, whole: map[int]json.RawMessage{}}
}

// Feed implements [wire.Decoder].
func (d *decoder) Feed(f wire.Frame, out []llm.Event) ([]llm.Event, error) {
	err := d.addEvent(f)
	return d.answer.Take(out), err
}

func (d *decoder) addEvent(f wire.Frame) error {
	if e := wire.FrameError(f.Data); e != nil {
		return e
	}
	var e event
	if err := json.Unmarshal(f.Data, &e); err != nil {
		return wire.DecodeError(err)
	}
	key := strconv.Itoa(e.Index)
	switch e.Type {
	case "message_start":
		d.answer.Start(e.Message.Model, e.Message.ID)
		d.setUsage(e.Message.Usage)
	case "content_block_start":
		return d.beginBlock(e, key)
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			d.answer.Text(e.Delta.Text)
		case "thinking_delta":
			d.answer.Reasoning(e.Delta.Thinking, nil)
		case "signature_delta":
			d.signed[e.Index] += e.Delta.Signature
		case "input_json_delta":
			return d.answer.Args(key, e.Delta.JSON)
		}
	case "content_block_stop":
		if s := d.signed[e.Index]; s != "" {
			delete(d.signed, e.Index)
			d.answer.Reasoning("", opaque{Signature: s})
		}
		if whole := d.whole[e.Index]; whole != nil {
			delete(d.whole, e.Index)
			if err := d.answer.ArgsIfNone(key, string(whole)); err != nil {
				return err
			}
		}
		d.answer.Close()
		d.answer.EndCall(key, nil)
	case "message_delta":
		d.setUsage(e.Usage)
		if e.Delta.Stop != "" {
			d.stop = e.Delta.Stop
		}
	case "message_stop":
		d.finish()
	}
	return nil
}

// beginBlock opens a block. Blocks of other types, such as calls that the API runs itself, are ignored: no request asks for
// them.
func (d *decoder) beginBlock(e event, key string) error {
	d.answer.Close()
	switch b := e.Block; b.Type {
	case "text":
		d.answer.Text(b.Text)
	case "thinking":
		d.answer.Reasoning(b.Thinking, nil)
		if b.Signature != "" {
			d.signed[e.Index] = b.Signature
		}
	case "redacted_thinking":
		d.answer.Reasoning("", opaque{Redacted: b.Data})
	case "tool_use":
		d.answer.Call(key, b.ID, b.Name)
		if len(b.Input) > len("{}") { // compatible servers send all of it here
			d.whole[e.Index] = b.Input
		}
	}
	return nil
}

func (d *decoder) setUsage(u usage) {
	for _, c := range []struct{ from, to *int64 }{
		{u.Input, &d.input}, {u.Read, &d.usage.Cached}, {u.Write, &d.usage.CacheWrite}, {u.Output, &d.usage.Output},
	} {
		if c.from != nil {
			*c.to = *c.from
		}
	}
	d.usage.Input = d.input + d.usage.Cached + d.usage.CacheWrite
	d.answer.Usage(d.usage)
}

// End implements [wire.Decoder]. Because some compatible servers leave out message_stop, an answer with a stop reason
// counts as complete.
func (d *decoder) End(out []llm.Event) ([]llm.Event, error) {
	if d.stop == "" {
		return d.answer.Take(out), fmt.Errorf("no message_stop: %w", io.ErrUnexpectedEOF)
	}
	d.finish()
	return d.answer.Take(out), nil
}

func (d *decoder) finish() {
	finish := llm.FinishStop
	switch d.stop {
	case "tool_use":
		finish = llm.FinishToolCalls
	case "max_tokens", "model_context_window_exceeded":
		finish = llm.FinishLength
	case "refusal":
		finish = llm.FinishRefusal
	}
	d.answer.Finish(finish)
}
