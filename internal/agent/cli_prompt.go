package agent

import (
	"context"
	"fmt"
	"strings"

	"collie/internal/agent/acp"
	"collie/internal/chat"
	"collie/internal/llm"
	"collie/internal/tool"
)

// promptBlocks returns the prompt for the agent of another program: its instructions, the conversation so far, because the
// agent does not know it, and then the message to answer.
func (f *foreignTurn) promptBlocks(ctx context.Context, s *acp.Session) ([]acp.Block, error) {
	var b strings.Builder
	f.files.writePrompt(&b, false)
	if own := f.turn.Config.SystemPrompt; own != "" {
		b.WriteString("\n" + own + "\n")
	}
	path := f.screenAttachments(ctx, unescapeSlashes(f.turn.Path))
	if before := transcriptText(path[:max(0, len(path)-1)]); before != "" {
		b.WriteString("\n# The conversation so far\n\n" + before)
	}
	if f.files.context != "" {
		b.WriteString("\n" + f.files.context + "\n")
	}
	if len(f.turn.Partial) > 0 {
		b.WriteString("\n# Your answer so far, which broke off: go on where it stops\n\n" + transcriptText(chat.Messages(f.turn.Partial, unknownState)))
	}
	var blocks []acp.Block
	if b.Len() > 0 {
		blocks = append(blocks, acp.Block{Text: strings.TrimSpace(b.String()) + "\n\n# The message to answer now\n"})
	}
	if len(path) == 0 {
		return blocks, nil
	}
	for _, p := range path[len(path)-1].Parts {
		switch {
		case p.Kind == llm.PartText:
			blocks = append(blocks, acp.Block{Text: p.Text})
		case p.File == nil:
		case strings.HasPrefix(p.File.MIME, "image/") && s.Images:
			blocks = append(blocks, acp.Block{MIME: p.File.MIME, Data: p.File.Data})
		case strings.HasPrefix(p.File.MIME, "image/"):
			return nil, &tool.Error{Op: "turn", Kind: tool.Invalid, Subject: f.files.agent.Name, Message: "this agent takes no pictures", Hint: "leave the picture out, or ask another one"}
		default:
			blocks = append(blocks, acp.Block{Text: "[" + p.File.Name + "]\n" + string(p.File.Data)})
		}
	}
	return blocks, nil
}

// transcriptText returns the text of a conversation, without calls and results.
func transcriptText(path []llm.Message) string {
	var b strings.Builder
	for _, m := range path {
		var texts []string
		for _, p := range m.Parts {
			if p.Kind == llm.PartText && p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		if len(texts) > 0 {
			fmt.Fprintf(&b, "%s: %s\n\n", m.Role, strings.Join(texts, "\n"))
		}
	}
	return b.String()
}
