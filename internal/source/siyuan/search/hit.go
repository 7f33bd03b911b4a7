package search

import (
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
)

// hit is a block that was found, without what nobody reads.
type hit struct {
	ID       kernel.ID `json:"id"`
	Type     string    `json:"type"`
	SubType  string    `json:"subtype,omitempty"`
	HPath    string    `json:"hPath"`
	FSPath   string    `json:"fsPath,omitempty"`
	Plain    string    `json:"plainContent,omitempty"`
	Name     string    `json:"name,omitempty"`
	Alias    string    `json:"alias,omitempty"`
	Memo     string    `json:"memo,omitempty"`
	Tag      string    `json:"tag,omitempty"`
	Children []hit     `json:"children,omitempty"` // of a document, where hits are grouped

	Notebook kernel.ID `json:"box"`
	Root     kernel.ID `json:"rootID,omitempty"`
	Parent   kernel.ID `json:"parentID,omitempty"`
	Path     string    `json:"path,omitempty"`
	Excerpt  string    `json:"excerpt,omitempty"`
	Content  string    `json:"content,omitempty"`
	Markdown string    `json:"markdown,omitempty"`
	RefText  string    `json:"refText,omitempty"`
}

// slim makes a hit of a found block. Without marks its content is plain text.
func slim(f *kernel.Found, withMarks bool) hit {
	text := parsePassage(f.Content)
	plain := func(s string) string { return parsePassage(s).whole() }
	h := hit{
		ID: f.ID, Type: f.Type, SubType: f.SubType, HPath: hpath(f), Plain: text.plain(), Name: plain(f.Name), Alias: plain(f.Alias),
		Memo: plain(f.Memo), Tag: plain(f.Tag), Notebook: f.Notebook, Root: f.Root, Parent: f.Parent, Path: f.Path,
		Excerpt: clip(text.whole(), excerptRunes), Content: text.plain(), Markdown: clip(content.Clean(f.Markdown), longContent),
		RefText: clip(f.RefText, longContent),
	}
	if withMarks {
		h.Content = text.marked()
	}
	for i := range f.Children {
		h.Children = append(h.Children, slim(&f.Children[i], withMarks))
	}
	return h
}

func slimAll(found []kernel.Found, withMarks bool) []hit {
	out := make([]hit, 0, len(found))
	for i := range found {
		out = append(out, slim(&found[i], withMarks))
	}
	return out
}

// hitFields describe the hits of a list.
func hitFields(list string) []action.Field {
	fields := []action.Field{
		{Name: list, About: "blocks that were found"},
		{Name: list + "[].id", About: "id of the block"},
		{Name: list + "[].type", About: "NodeParagraph, NodeHeading, NodeDocument, …"},
		{Name: list + "[].subtype", About: "h1 to h6 of a heading, u, o or t of a list"},
		{Name: list + "[].hPath", About: "human path of its document in its notebook"},
		{Name: list + "[].fsPath", About: "the same with the notebook, as fs takes it"},
		{Name: list + "[].plainContent", About: "its text; of a long one what is around the matches"},
		{Name: list + "[].name", About: "its name, alias, memo and tags, where it has them"},
	}
	for _, f := range [...]action.Field{
		{Name: "box", About: "its notebook"},
		{Name: "rootID", About: "its document"},
		{Name: "parentID", About: "the block above it"},
		{Name: "path", About: "storage path of its document"},
		{Name: "excerpt", About: "the first 200 characters"},
		{Name: "content", About: "its text as HTML with <mark> around matches"},
		{Name: "markdown", About: "its Markdown, 400 characters at most"},
		{Name: "refText", About: "what a reference to it would show"},
	} {
		fields = append(fields, action.Field{Name: list + "[]." + f.Name, About: f.About, Verbose: true})
		if f.Name != "refText" {
			fields = append(fields, action.Field{Name: list + "[].children[]." + f.Name, About: f.About, Verbose: true})
		}
	}
	return fields
}

// readable leaves out what is in notebooks that may not be read, and counts it for nobody but us: the
// count of what fits a text of the caller's choice tells that text. What the index
// holds twice comes once. A document of a group stays with those of its blocks
// that may be read.
func readable(r *action.Request, found []kernel.Found) (kept []kernel.Found, dropped int) {
	kept = make([]kernel.Found, 0, len(found))
	seen := make(map[kernel.ID]bool, len(found))
	for _, f := range found {
		if seen[f.ID] {
			continue
		}
		seen[f.ID] = true
		if !r.Readable(f.Notebook) {
			dropped += max(1, len(f.Children))
			continue
		}
		if f.Children != nil {
			below, n := readable(r, f.Children)
			f.Children, dropped = below, dropped+n
		}
		kept = append(kept, f)
	}
	return kept, dropped
}
