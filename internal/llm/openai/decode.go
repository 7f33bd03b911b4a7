package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// This file reads the stream of chunks with which the API, and the many servers that imitate it, answer.

// chunk is one event of an answer: a piece of it, or the tokens it took.
type chunk struct {
	ID      string `json:"id"`
	Model   string `json:"model"`
	Choices []struct {
		Delta   delta  `json:"delta"`
		Message delta  `json:"message"` // of servers that do not stream although asked to
		Finish  string `json:"finish_reason"`
	} `json:"choices"`
	Usage *usage `json:"usage"`
}

// delta is what a chunk adds to the answer. Servers use different fields for reasoning.
type delta struct {
	Content          content           `json:"content"`
	Refusal          string            `json:"refusal"`
	ReasoningContent string            `json:"reasoning_content"`
	Reasoning        string            `json:"reasoning"`
	ReasoningDetails []json.RawMessage `json:"reasoning_details"`
	ToolCalls        []piece           `json:"tool_calls"`
}

// piece is a fragment of a call. Some servers omit the index, repeat the id in each piece, or send the arguments as an
// object.
type piece struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// argsText returns the text of the arguments.
func (p piece) argsText() string {
	var text string
	if json.Unmarshal(p.Function.Args, &text) == nil {
		return text
	}
	return string(p.Function.Args)
}

// content is a text, or a list of parts of which some are reasoning.
type content struct{ text, thought string }

// UnmarshalJSON implements [json.Unmarshaler].
func (c *content) UnmarshalJSON(raw []byte) error {
	if len(raw) == 0 || raw[0] != '[' {
		return json.Unmarshal(raw, &c.text)
	}
	var list []struct {
		Text     string  `json:"text"`
		Thinking content `json:"thinking"`
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	for _, p := range list {
		c.text += p.Text
		c.thought += p.Thinking.text
	}
	return nil
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Details    struct {
		Cached int64 `json:"cached_tokens"`
		Write  int64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Hit     int64 `json:"prompt_cache_hit_tokens"` // DeepSeek
	Outputs struct {
		Reasoning int64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// decoder assembles an answer from what the API sends. It implements [wire.Decoder].
type decoder struct {
	answer  wire.Answer
	started bool
	tags    wire.ThinkTags
	finish  llm.Finish
	details []json.RawMessage
	last    string         // key of the call that last received a piece
	byIndex map[int]string // keys of calls, by their index
	calls   int
}

// Feed implements [wire.Decoder].
func (d *decoder) Feed(f wire.Frame, out []llm.Event) ([]llm.Event, error) {
	err := d.addFrame(f)
	return d.answer.Take(out), err
}

func (d *decoder) addFrame(f wire.Frame) error {
	if string(f.Data) == "[DONE]" {
		d.finishAnswer()
		return nil
	}
	if e := wire.FrameError(f.Data); e != nil {
		return e
	}
	if d.started {
		if text, plain := plainText(f.Data); plain {
			d.tags.Add(&d.answer, text)
			return nil
		}
	}
	var c chunk
	if err := json.Unmarshal(f.Data, &c); err != nil {
		return wire.DecodeError(err)
	}
	d.started = true
	d.answer.Start(c.Model, c.ID)
	if u := c.Usage; u != nil {
		d.answer.Usage(llm.Usage{
			Input: u.Prompt, Cached: max(u.Details.Cached, u.Hit), CacheWrite: u.Details.Write, Output: u.Completion, Reasoning: u.Outputs.Reasoning,
		})
	}
	if len(c.Choices) == 0 {
		return nil
	}
	choice := c.Choices[0]
	if err := d.addDelta(choice.Delta); err != nil {
		return err
	}
	if err := d.addDelta(choice.Message); err != nil {
		return err
	}
	d.setFinish(choice.Finish)
	return nil
}

// plainText returns the text of a chunk that adds nothing else to the answer, as most chunks do. It takes less than half
// as long as decoding the chunk. plain is false for a chunk with more, or with something that gjson and encoding/json might
// read differently; such a chunk has to be decoded.
func plainText(data []byte) (text string, plain bool) {
	if !utf8.Valid(data) || bytes.Contains(data, []byte(`\u`)) || !gjson.ValidBytes(data) {
		return "", false
	}
	choices, found := 0, true
	gjson.ParseBytes(data).ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "object", "created", "system_fingerprint", "service_tier", "provider":
		case "id", "model":
			found = v.Type == gjson.String || v.Type == gjson.Null
		case "choices":
			if found = v.IsArray(); !found {
				return false
			}
			v.ForEach(func(_, choice gjson.Result) bool {
				choices++
				text, found = plainChoice(choice)
				return found
			})
		default:
			found = v.Type == gjson.Null
		}
		return found
	})
	return text, found && choices == 1
}

// plainChoice does for one choice what plainText does for a chunk.
func plainChoice(choice gjson.Result) (text string, plain bool) {
	plain = true
	choice.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "index", "logprobs":
		case "delta":
			if plain = v.IsObject(); !plain {
				return false
			}
			v.ForEach(func(key, v gjson.Result) bool {
				switch {
				case key.Str == "content" && v.Type == gjson.String:
					text = v.Str
				case key.Str != "role":
					plain = v.Type == gjson.Null
				}
				return plain
			})
		default:
			plain = v.Type == gjson.Null
		}
		return plain
	})
	return text, plain
}

// addDelta adds what a chunk brings to the answer: reasoning, text, a refusal, pieces of calls.
func (d *decoder) addDelta(in delta) error {
	thought := in.ReasoningContent
	if thought == "" {
		thought = in.Reasoning
	}
	d.answer.Reasoning(thought+in.Content.thought, nil)
	d.details = append(d.details, in.ReasoningDetails...)
	d.tags.Add(&d.answer, in.Content.text)
	if in.Refusal != "" {
		d.finish = llm.FinishRefusal
		d.answer.Text(in.Refusal)
	}
	for _, p := range in.ToolCalls {
		if err := d.addPiece(p); err != nil {
			return err
		}
	}
	return nil
}

// addPiece adds a fragment to its call. A new id with a name begins a call, whatever the index is; otherwise the index
// decides; without an index the fragment belongs to the last call.
func (d *decoder) addPiece(p piece) error {
	if d.byIndex == nil {
		d.byIndex = map[int]string{}
	}
	key, known := d.last, d.calls > 0
	if p.Index != nil {
		key, known = d.byIndex[*p.Index], d.byIndex[*p.Index] != ""
	}
	if p.ID != "" {
		id := "id " + p.ID
		switch {
		case d.answer.HasCall(id):
			key, known = id, true
		case known && p.Function.Name == "" && p.Index != nil: // a server that sends a new id with each piece
		default:
			key, known = id, false
		}
	} else if p.Index == nil && p.Function.Name != "" {
		known = false
	}
	if !known {
		if p.ID == "" {
			key = "call " + strconv.Itoa(d.calls)
		}
		d.calls++
		d.endReasoning()
		d.answer.Call(key, p.ID, p.Function.Name)
		if p.Index != nil {
			d.byIndex[*p.Index] = key
		}
	}
	d.last = key
	return d.answer.Args(key, p.argsText())
}

// endReasoning writes out what belongs to reasoning that is complete.
func (d *decoder) endReasoning() {
	d.tags.End(&d.answer)
	if len(d.details) > 0 {
		raw, _ := json.Marshal(d.details)
		d.details = nil
		d.answer.Reasoning("", opaque{Details: raw})
	}
}

func (d *decoder) setFinish(word string) {
	switch strings.ToLower(word) {
	case "":
		return
	case "length", "max_tokens", "model_length":
		d.finish = llm.FinishLength
	case "content_filter", "sensitive":
		d.finish = llm.FinishFiltered
	case "tool_calls", "function_call":
		d.finish = llm.FinishToolCalls
	default:
		if d.finish == "" {
			d.finish = llm.FinishStop
		}
	}
}

// End implements [wire.Decoder]. Because some servers leave out [DONE], an answer with a finish reason counts as complete.
func (d *decoder) End(out []llm.Event) ([]llm.Event, error) {
	if d.finish == "" {
		return d.answer.Take(out), fmt.Errorf("no finish_reason: %w", io.ErrUnexpectedEOF)
	}
	d.finishAnswer()
	return d.answer.Take(out), nil
}

func (d *decoder) finishAnswer() {
	d.endReasoning()
	if d.finish == "" || d.finish == llm.FinishToolCalls && !d.answer.HasCalls() {
		d.finish = llm.FinishStop
	}
	d.answer.Finish(d.finish)
}
