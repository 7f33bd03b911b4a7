package block

import (
	"context"
	"path"
	"slices"

	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the action block.recent_updated, which lists the blocks that changed last.

const (
	recentSamples = 3   // blocks shown of each document
	recentExcerpt = 200 // characters of a block's text
)

type recentArgs struct {
	Count int `json:"count" about:"most blocks to look at; the kernel keeps few" default:"50" min:"1" max:"200"`
}

type recentBlock struct {
	ID       kernel.ID `json:"id"`
	Type     string    `json:"type"`
	SubType  string    `json:"subtype,omitempty"`
	Notebook kernel.ID `json:"box,omitempty"`
	RootID   kernel.ID `json:"rootID,omitempty"`
	HPath    string    `json:"hPath,omitempty"`
	Updated  string    `json:"updated,omitempty"`
	Excerpt  string    `json:"excerpt"`
}

type recentDocument struct {
	DocumentID   kernel.ID     `json:"documentId" about:"document, the latest first"`
	Notebook     kernel.ID     `json:"notebook" about:"its notebook"`
	Path         string        `json:"path" about:"its storage path" verbose:"yes"`
	HPath        string        `json:"hPath" about:"its human path in the notebook"`
	Name         string        `json:"name" about:"its title"`
	BlockCount   int           `json:"updatedBlockCount" about:"blocks of it in the list"`
	SampleBlocks []recentBlock `json:"sampleBlocks" about:"up to 3 of them: id, type, excerpt"`
}

type recentResult struct {
	Documents     []*recentDocument `json:"documents"`
	DocumentCount int               `json:"documentCount" about:"documents"`
	Count         int               `json:"count" about:"blocks"`
	LowLevel      bool              `json:"containsLowLevelBlocks" about:"whether blocks below documents are among them" verbose:"yes"`
	Grouping      string            `json:"grouping" about:"document" verbose:"yes"`
	PrimaryView   string            `json:"primaryView" about:"documents" verbose:"yes"`
	Items         []recentBlock     `json:"items" about:"all blocks in one list, the latest first" verbose:"yes"`
}

// recentUpdated returns the action recent_updated of the tool block.
func recentUpdated() *action.Action {
	return action.New(action.Spec{
		Tool: name, Name: "recent_updated",
		Purpose: "List what was written last, by document",
		Class:   action.Reads, Risk: tool.RiskNone, Effects: tool.EffectRead,
		Unguarded: "what is in notebooks that may not be read is left out",
		Endpoints: []string{"block/getRecentUpdatedBlocks", "sqlite/flushTransaction", "query/sql"},
		Result:    recentResult{},
		Example:   `{}`,
	}, func(ctx context.Context, r *action.Request, a recentArgs) (any, error) {
		all, err := r.Kernel.RecentBlocks(ctx)
		if err != nil {
			return nil, err
		}
		seen := map[kernel.ID]bool{}
		all = slices.DeleteFunc(all, func(b kernel.RecentBlock) bool { // the index may hold a block twice
			twice := seen[b.ID]
			seen[b.ID] = true
			return twice
		})
		visible := make([]kernel.RecentBlock, 0, len(all))
		for _, b := range all {
			if r.Readable(b.Notebook) {
				visible = append(visible, b)
			}
		}
		r.Filtered(len(all) - len(visible))
		if err := content.RedactTexts(ctx, r, visible, func(b *kernel.RecentBlock) (string, *string, *string) {
			return b.Type, &b.Content, &b.Markdown
		}); err != nil {
			return nil, err
		}
		return groupRecent(visible[:min(len(visible), a.Count)]), nil
	})
}

// groupRecent puts blocks under their documents, in the order of each document's first block.
func groupRecent(blocks []kernel.RecentBlock) recentResult {
	out := recentResult{
		Documents: []*recentDocument{}, Items: []recentBlock{}, Count: len(blocks), Grouping: "document", PrimaryView: "documents",
	}
	byID := map[kernel.ID]*recentDocument{}
	for _, b := range blocks {
		d := byID[b.RootID]
		if d == nil {
			d = &recentDocument{
				DocumentID: b.RootID, Notebook: b.Notebook, Path: b.Path, HPath: b.HPath,
				Name: path.Base(b.HPath), SampleBlocks: []recentBlock{},
			}
			byID[b.RootID] = d
			out.Documents = append(out.Documents, d)
		}
		text := content.Clip(content.Clean(b.Content), recentExcerpt)
		d.BlockCount++
		if len(d.SampleBlocks) < recentSamples {
			d.SampleBlocks = append(d.SampleBlocks, recentBlock{ID: b.ID, Type: b.Type, Excerpt: text})
		}
		out.LowLevel = out.LowLevel || b.ID != b.RootID
		out.Items = append(out.Items, recentBlock{
			ID: b.ID, Type: b.Type, SubType: b.SubType, Notebook: b.Notebook, RootID: b.RootID, HPath: b.HPath,
			Updated: b.IAL["updated"], Excerpt: text,
		})
	}
	out.DocumentCount = len(out.Documents)
	return out
}
