package gemini

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// This file reads the stream of chunks with which the API answers.

// chunk is one event of an answer.
type chunk struct {
	ID         string `json:"responseId"`
	Model      string `json:"modelVersion"`
	Candidates []struct {
		Content struct {
			Parts []part `json:"parts"`
		} `json:"content"`
		Finish  string `json:"finishReason"`
		Message string `json:"finishMessage"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt   int64 `json:"promptTokenCount"`
		Tool     int64 `json:"toolUsePromptTokenCount"`
		Cached   int64 `json:"cachedContentTokenCount"`
		Answer   int64 `json:"candidatesTokenCount"`
		Thoughts int64 `json:"thoughtsTokenCount"`
	} `json:"usageMetadata"`
}

type part struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought"`
	Signature string `json:"thoughtSignature"`
	Call      *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
}

// decoder assembles an answer from what the API sends. It implements [wire.Decoder].
type decoder struct {
	answer wire.Answer
	finish llm.Finish
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
	var c chunk
	if err := json.Unmarshal(f.Data, &c); err != nil {
		return wire.DecodeError(err)
	}
	d.answer.Start(c.Model, c.ID)
	if u := c.Usage; u != nil {
		d.answer.Usage(llm.Usage{Input: u.Prompt + u.Tool, Cached: u.Cached, Output: u.Answer + u.Thoughts, Reasoning: u.Thoughts})
	}
	if c.Feedback.Block != "" {
		d.finish = llm.FinishFiltered
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	candidate := c.Candidates[0]
	for _, p := range candidate.Content.Parts {
		if err := d.addPart(p); err != nil {
			return err
		}
	}
	return d.setFinish(candidate.Finish, candidate.Message)
}

// addPart adds one part of an answer: a call, reasoning or text.
func (d *decoder) addPart(p part) error {
	var signed any
	if p.Signature != "" {
		signed = opaque{p.Signature}
	}
	switch {
	case p.Call != nil:
		d.calls++
		return d.answer.CompleteCall(strconv.Itoa(d.calls), p.Call.ID, p.Call.Name, string(p.Call.Args), signed)
	case p.Thought:
		d.answer.Reasoning(p.Text, signed)
	default:
		d.answer.Text(p.Text)
		d.answer.Reasoning("", signed) // comes back as a part of its own
	}
	return nil
}

// setFinish notes why the answer ends. It returns an error if the model failed to write a call.
func (d *decoder) setFinish(word, message string) error {
	switch word {
	case "", "FINISH_REASON_UNSPECIFIED":
	case "STOP":
		d.finish = llm.FinishStop
	case "MAX_TOKENS":
		d.finish = llm.FinishLength
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "OTHER":
		if !d.answer.HasCalls() {
			return &llm.Error{Class: llm.ClassTransient, Code: word, Message: fmt.Sprintf("the model failed: %s %s", word, message)}
		}
		d.finish = llm.FinishStop
	default: // SAFETY, RECITATION, LANGUAGE, BLOCKLIST, PROHIBITED_CONTENT, SPII, …
		d.finish = llm.FinishFiltered
	}
	return nil
}

// End implements [wire.Decoder]: the end of the stream is the end of the answer.
func (d *decoder) End(out []llm.Event) ([]llm.Event, error) {
	if d.finish == "" {
		return d.answer.Take(out), fmt.Errorf("no finishReason: %w", io.ErrUnexpectedEOF)
	}
	d.answer.Finish(d.finish)
	return d.answer.Take(out), nil
}
