package transform

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"collie/internal/llm"
	"collie/internal/llm/wire"
)

// This file has the single changes to a request that a provider or model needs, such as other ids, names and images.

// dropForeign removes parts that models do not see, messages that have no others, and opaque data of other providers.
func dropForeign(c *chain, d *wire.Draft) {
	messages := make([]llm.Message, 0, len(d.Messages))
	for _, m := range d.Messages {
		parts := make([]llm.Part, 0, len(m.Parts))
		for _, p := range m.Parts {
			if p.Kind == llm.PartNotice || p.Kind == llm.PartFile && p.File == nil {
				continue
			}
			if p.Provider != c.provider {
				p.Opaque = nil
			}
			parts = append(parts, p)
		}
		if len(parts) > 0 {
			messages = append(messages, llm.Message{Role: m.Role, Parts: parts})
		}
	}
	d.Messages = messages
}

// pairResults gives each call exactly one result, in the message that follows and in the order of the calls.
func pairResults(_ *chain, d *wire.Draft) {
	results := map[string]llm.Part{}
	for _, m := range d.Messages {
		for _, p := range m.Parts {
			if p.Kind == llm.PartToolResult {
				if _, ok := results[p.Call]; !ok {
					results[p.Call] = p
				}
			}
		}
	}
	var messages []llm.Message
	for _, m := range d.Messages {
		if m.Role == llm.RoleTool {
			continue
		}
		messages = append(messages, m)
		answers := llm.Message{Role: llm.RoleTool}
		for _, p := range m.Parts {
			if p.Kind != llm.PartToolCall {
				continue
			}
			r, ok := results[p.Call]
			if !ok {
				r = llm.Part{Kind: llm.PartToolResult, Call: p.Call, Text: "The call was not made.", IsError: true}
			}
			r.Name = p.Name
			answers.Parts = append(answers.Parts, r)
		}
		if len(answers.Parts) > 0 {
			messages = append(messages, answers)
		}
	}
	d.Messages = messages
}

// maxID is the longest id of a call that all providers accept.
const maxID = 40

// fixCallIDs replaces ids that not every provider accepts.
func fixCallIDs(_ *chain, d *wire.Draft) {
	for _, m := range d.Messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Call != "" && !wire.ValidID(p.Call, maxID) {
				p.Call = "call_" + digest(p.Call)
			}
		}
	}
}

// digestLen is the length of a digest.
const digestLen = 16

// digest returns a short text in hexadecimal digits that differs for different texts.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:digestLen/2])
}

// systemAsUser puts the system prompt in front of the first user message.
func systemAsUser(_ *chain, d *wire.Draft) {
	if d.System == "" {
		return
	}
	prompt := llm.Part{Kind: llm.PartText, Text: d.System + "\n\n"}
	d.System = ""
	if len(d.Messages) > 0 && d.Messages[0].Role == llm.RoleUser {
		first := llm.Message{Role: llm.RoleUser, Parts: append([]llm.Part{prompt}, d.Messages[0].Parts...)}
		if len(first.Parts) > 1 && first.Parts[1].Kind == llm.PartText {
			first.Parts[1].Text = prompt.Text + first.Parts[1].Text
			first.Parts = first.Parts[1:]
		}
		d.Messages[0] = first
		return
	}
	d.Messages = append([]llm.Message{{Role: llm.RoleUser, Parts: []llm.Part{prompt}}}, d.Messages...)
}

// replaceImages replaces images by a note, for a model that cannot see them.
func replaceImages(_ *chain, d *wire.Draft) {
	for _, m := range d.Messages {
		for i := range m.Parts {
			p := &m.Parts[i]
			if p.Kind == llm.PartFile && wire.FileKind(p.File) == wire.FileImage {
				*p = llm.Part{Kind: llm.PartText, Text: imagePlaceholder(p.File)}
			}
			for j := range p.Files {
				p.Text = strings.TrimPrefix(p.Text+"\n"+imagePlaceholder(&p.Files[j]), "\n")
			}
			p.Files = nil
		}
	}
}

func imagePlaceholder(f *llm.File) string {
	return "[a picture, " + f.MIME + " " + f.Name + ", that this model cannot see]"
}

// moveResultImages moves the images in tool results to a user message that follows.
func moveResultImages(_ *chain, d *wire.Draft) {
	var messages []llm.Message
	for _, m := range d.Messages {
		messages = append(messages, m)
		if m.Role != llm.RoleTool {
			continue
		}
		images := llm.Message{Role: llm.RoleUser, Parts: []llm.Part{{Kind: llm.PartText, Text: "These are the pictures of the results above."}}}
		for i := range m.Parts {
			for j := range m.Parts[i].Files {
				images.Parts = append(images.Parts, llm.Part{Kind: llm.PartFile, File: &m.Parts[i].Files[j]})
			}
			m.Parts[i].Files = nil
		}
		if len(images.Parts) > 1 {
			messages = append(messages, images)
		}
	}
	d.Messages = messages
}

// lowerSchemas converts the schemas of tools to the dialect of the provider.
func lowerSchemas(c *chain, d *wire.Draft) {
	d.Tools = slices.Clone(d.Tools)
	for i := range d.Tools {
		d.Tools[i].Schema = c.lowerSchema(d.Tools[i].Schema)
	}
}

// maxName is the longest name of a tool that all providers accept.
const maxName = 64

// nameTools gives each tool a unique name that the provider accepts, and the same name in every request with the same
// tools. Other characters become _; a digest is appended to names that are too long or would coincide.
func nameTools(_ *chain, d *wire.Draft) {
	d.Names = map[string]string{}
	theirs := map[string]string{}
	taken := map[string]int{}
	for _, t := range d.Tools {
		taken[sanitize(t.Name)]++
	}
	name := func(ours string) string {
		if n, ok := theirs[ours]; ok {
			return n
		}
		n := sanitize(ours)
		if len(n) > maxName || n != ours && taken[n] > 1 {
			n = n[:min(len(n), maxName-len("_")-digestLen)] + "_" + digest(ours)
		}
		theirs[ours] = n
		if n != ours {
			d.Names[n] = ours
		}
		return n
	}
	for i := range d.Tools {
		d.Tools[i].Name = name(d.Tools[i].Name)
	}
	for _, m := range d.Messages {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Name != "" {
				p.Name = name(p.Name)
			}
		}
	}
}

// sanitize replaces what not all providers accept in a name by _. Some require a letter or _ at the beginning.
func sanitize(name string) string {
	name = strings.Map(func(r rune) rune {
		if wire.ValidID(string(r), 1) {
			return r
		}
		return '_'
	}, name)
	if name == "" || name[0] == '-' || name[0] >= '0' && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// limitOutput sets an output limit if the API requires one, and lowers it to that of the model.
func limitOutput(c *chain, d *wire.Draft) {
	limit := c.model.Output
	switch {
	case d.MaxOutput > 0 && limit > 0:
		d.MaxOutput = min(d.MaxOutput, limit)
	case d.MaxOutput > 0 || !c.style.RequiresMaxOutput:
	case limit > 0:
		d.MaxOutput = min(limit, defaultOutput)
	default:
		d.MaxOutput = unknownModelOutput
	}
}

// Output limits if the request has none: for models with a known limit, which must leave room for the
// conversation, and for all others.
const (
	defaultOutput      = 32_000
	unknownModelOutput = 8192
)
