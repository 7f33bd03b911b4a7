package agent

import (
	"collie/internal/llm"
)

// conversation is a path as a model takes it: each answer is parted where the results of its calls
// stand, every call has exactly one result, directly behind the message that calls, and what is for
// people alone is left out.
func conversation(path []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range path {
		if m.Role != llm.RoleAssistant {
			if m.Role == llm.RoleUser && len(m.Parts) > 0 {
				out = append(out, m)
			}
			if m.Role == llm.RoleTool {
				out = append(out, m)
			}
			continue
		}
		out = append(out, parted(m.Parts)...)
	}
	return answered(out)
}

// parted is the answer of one turn as the messages it was made of.
func parted(parts []llm.Part) (out []llm.Message) {
	for _, p := range parts {
		role := llm.RoleAssistant
		switch p.Kind {
		case llm.PartNotice:
			continue
		case llm.PartToolResult:
			role = llm.RoleTool
		case llm.PartText, llm.PartReasoning:
			if p.Text == "" && len(p.Opaque) == 0 {
				continue
			}
		case llm.PartToolCall, llm.PartFile:
		}
		if len(out) == 0 || out[len(out)-1].Role != role {
			out = append(out, llm.Message{Role: role})
		}
		last := &out[len(out)-1]
		last.Parts = append(last.Parts, p)
	}
	return out
}

// answered puts exactly one result behind each call. Results that belong to no call before them are
// left out; a call without one gets one that says so.
func answered(in []llm.Message) (out []llm.Message) {
	for i, m := range in {
		if m.Role == llm.RoleTool {
			continue // taken by the message before it
		}
		out = append(out, m)
		if m.Role != llm.RoleAssistant {
			continue
		}
		var results []llm.Part
		for _, p := range m.Parts {
			if p.Kind != llm.PartToolCall {
				continue
			}
			results = append(results, resultOf(p, in[i+1:]))
		}
		if len(results) > 0 {
			out = append(out, llm.Message{Role: llm.RoleTool, Parts: results})
		}
	}
	return out
}

func resultOf(called llm.Part, behind []llm.Message) llm.Part {
	for _, m := range behind {
		if m.Role != llm.RoleTool {
			break
		}
		for _, p := range m.Parts {
			if p.Call == called.Call {
				return p
			}
		}
	}
	return llm.Part{
		Kind: llm.PartToolResult, Call: called.Call, Name: called.Name, IsError: true,
		Text: `{"error":{"type":"cancelled","message":"the call did not end: it may have happened, or not"}}`,
	}
}

// estimate is about how many tokens a request takes: four bytes of ASCII make one, as one and a half
// characters of other scripts do. It is right within a third for English and Chinese, and is used to
// decide when to shorten a conversation, never for money.
func estimate(system string, tools []llm.Tool, messages []llm.Message) int {
	n := tokens(system) + size(tools)/4
	for _, m := range messages {
		for _, p := range m.Parts {
			n += 4 + tokens(p.Text) + tokens(p.Args) + len(p.Opaque)/4 + 1000*len(p.Files)
			if p.File != nil {
				n += 1000
			}
		}
	}
	return n
}

func tokens(s string) int {
	ascii, other := 0, 0
	for _, r := range s {
		if r < 0x80 {
			ascii++
		} else {
			other++
		}
	}
	return ascii/4 + other*2/3
}
