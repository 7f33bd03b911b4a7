package document

import (
	"context"
	"fmt"
	"strings"

	"collie/internal/source/siyuan/access"
	"collie/internal/source/siyuan/action"
	"collie/internal/source/siyuan/content"
	"collie/internal/source/siyuan/datafile"
	"collie/internal/source/siyuan/kernel"
	"collie/internal/tool"
)

// This file has the actions document.create, document.create_daily_note and document.duplicate.

type createArgs struct {
	Notebook       kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	Path           string    `json:"path" about:"human path in the notebook, such as /Projects/Alpha"`
	ParentPath     string    `json:"parentPath" about:"human or storage path of the parent, with title"`
	Title          string    `json:"title" about:"title, with parentPath"`
	Markdown       string    `json:"markdown" about:"body" default:"" list:"yes"`
	Icon           string    `json:"icon" about:"emoji, or its code points such as 1f4d4"`
	AllowDuplicate bool      `json:"allowDuplicate" about:"make a second document of the same path" default:"false"`
}

// created is a new document.
type created struct {
	Success bool `json:"success" about:"true"`
	resultPlace
	Title              string   `json:"title" about:"title"`
	ParentPath         string   `json:"parentPath,omitempty" about:"the parent as it was given" verbose:"yes"`
	ResolvedParentPath string   `json:"resolvedParentPath,omitempty" about:"human path of the parent" verbose:"yes"`
	IconHint           string   `json:"iconHint,omitempty" about:"how to give it an icon, where it has none" verbose:"yes"`
	Warnings           []string `json:"warnings,omitempty" about:"what a reader of the text should know"`
}

// create returns the action create of the tool document.
func create() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "create", Purpose: "Create a document from Markdown",
		Guide: "Give path, whose missing parents are made too, or parentPath and title. A path that is taken is " +
			"refused unless allowDuplicate is true. A first line \"# Title\" that repeats the title is left out. " +
			"SiYuan allows 7 levels of documents.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite, AddsDocument: true,
		Needs:      []action.Need{needsOpenNotebook(access.Write, "notebook")},
		Endpoints:  []string{"filetree/getIDsByHPath", "filetree/createDocWithMd", "filetree/getHPathByID", "filetree/moveDocsByID", "block/getBlockInfo", "attr/setBlockAttrs", "query/sql", "sqlite/flushTransaction"},
		Positional: []string{"notebook", "path"},
		Result:     created{},
		Example:    `{"notebook":"20240101120000-abcdefg","path":"/Projects/Alpha","markdown":"First *draft*"}`,
	}, func(ctx context.Context, r *action.Request, a createArgs) (any, error) {
		code, err := r.Icon("icon", a.Icon)
		if err != nil {
			return nil, err
		}
		to, err := destinationOf(ctx, r, &a)
		if err != nil {
			return nil, err
		}
		markdown, warnings, err := content.Normalize(ctx, r, content.RenewIDs(content.WithoutTitle(a.Markdown, to.title), nil), "")
		if err != nil {
			return nil, err
		}
		id, err := to.create(ctx, r, markdown)
		if err != nil {
			return nil, err
		}
		at, err := to.locateCreated(ctx, r, id)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(id)
		r.RefreshTree()
		out := created{Success: true, resultPlace: at, Title: lastTitle(at.HPath), ParentPath: a.ParentPath, Warnings: warnings}
		if a.ParentPath != "" {
			out.ResolvedParentPath = to.parentHPath()
		}
		if code == "" {
			out.IconHint = iconHint
		} else if warning := setNewIcon(ctx, r, id, code); warning != "" {
			out.Warnings = append(out.Warnings, warning)
		}
		return out, nil
	})
}

// create creates the document with an id chosen here, so that even if the answer is lost, one can find out whether it
// was created.
func (d *destination) create(ctx context.Context, r *action.Request, markdown string) (kernel.ID, error) {
	id := kernel.NewID()
	got, err := r.Kernel.CreateDocument(ctx, d.notebook, d.hpath, markdown, id)
	switch {
	case err == nil:
		return got, nil
	case tool.KindOf(err) == kernel.OutcomeUnknown:
		if p, lookErr := currentPlace(ctx, r, id); lookErr == nil && p != nil {
			return id, nil // it was created, only the answer was lost
		}
	}
	return id, explainTooDeep(err, strings.Count(d.hpath, "/"))
}

// locateCreated finds the new document. It moves it if the kernel has put it below another parent with the same human
// path.
func (d *destination) locateCreated(ctx context.Context, r *action.Request, id kernel.ID) (resultPlace, error) {
	p, err := currentPlace(ctx, r, id)
	if err == nil && p != nil && d.parent != nil && p.Path != childrenPath(d.parent.Path)+"/"+string(id)+".sy" {
		if err = r.Kernel.MoveDocuments(ctx, []kernel.ID{id}, d.parent.ID); err == nil {
			p, err = currentPlace(ctx, r, id)
		}
	}
	switch {
	case err != nil:
		return resultPlace{}, err
	case p == nil || p.Notebook != d.notebook:
		return resultPlace{}, mismatchError(id, "the kernel accepted the document, and it is not there")
	}
	hpath, err := r.Kernel.HPathByID(ctx, id)
	if err == nil && d.hpath != "" && strings.Count(hpath, "/") != strings.Count(d.hpath, "/") {
		err = mismatchError(id, "the document was made, and it is at "+hpath)
	}
	return resultPlace{id, p.Notebook, p.Path, hpath}, err
}

type createDailyNoteArgs struct {
	Notebook kernel.ID `json:"notebook" about:"notebook id" req:"true"`
	App      string    `json:"app" about:"id of the SiYuan window that asks"`
}

type createDailyNoteResult struct {
	Success bool `json:"success" about:"true"`
	resultPlace
	IconHint string `json:"iconHint" about:"how to give it an icon" verbose:"yes"`
}

// createDailyNote returns the action create_daily_note of the tool document.
func createDailyNote() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "create_daily_note", Purpose: "Create today's daily note, or find it",
		Guide: `Where it goes, notebook(action="get_conf") says: dailyNoteSavePath.`,
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite,
		Needs:      []action.Need{needsOpenNotebook(access.Write, "notebook"), datafile.DailyNote("notebook")},
		Endpoints:  []string{"notebook/getNotebookConf", "search/searchTemplate", "file/readDir", "file/getFile", "filetree/createDailyNote", "filetree/getHPathByID", "block/getBlockInfo"},
		Positional: []string{"notebook"},
		Result:     createDailyNoteResult{},
		Example:    `{"notebook":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, a createDailyNoteArgs) (any, error) {
		id, err := r.Kernel.DailyNote(ctx, a.Notebook, a.App)
		if err != nil {
			return nil, err
		}
		to := destination{notebook: a.Notebook}
		at, err := to.locateCreated(ctx, r, id)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(id)
		r.RefreshTree()
		return createDailyNoteResult{true, at, iconHint}, nil
	})
}

type duplicateArgs struct {
	ID kernel.ID `json:"id" about:"document id" req:"true"`
}

type duplicateResult struct {
	Success  bool      `json:"success" about:"true"`
	SourceID kernel.ID `json:"sourceID" about:"the document that was copied"`
	resultPlace
}

// duplicate returns the action duplicate of the tool document.
func duplicate() *action.Action {
	return action.New(action.Spec{
		Tool: "document", Name: "duplicate", Purpose: "Copy a document beside itself",
		Guide: "Documents below it are not copied. The copy has the time in its title: rename it.",
		Class: action.Creates, Risk: tool.RiskLow, Effects: tool.EffectWrite, AddsDocument: true,
		Needs:      []action.Need{needsDocument(access.Write, "id")},
		Endpoints:  []string{"filetree/duplicateDoc", "filetree/getHPathByID", "block/getBlockInfo"},
		Positional: []string{"id"},
		Result:     duplicateResult{},
		Example:    `{"id":"20240101120000-abcdefg"}`,
	}, func(ctx context.Context, r *action.Request, _ duplicateArgs) (any, error) {
		t := r.Target("id")
		d, err := r.Kernel.DuplicateDocument(ctx, t.Root)
		if err != nil {
			return nil, err
		}
		to := destination{notebook: t.Notebook}
		at, err := to.locateCreated(ctx, r, d.ID)
		if err != nil {
			return nil, err
		}
		r.RefreshDocument(d.ID)
		r.RefreshTree()
		return duplicateResult{true, t.Root, at}, nil
	})
}

const iconHint = `an icon is an emoji or its code points in hex: document(action="set_attr", attrs={"icon":"1f4d4"})`

// setNewIcon sets the icon of a new document. A failure is only a warning, because the document exists.
func setNewIcon(ctx context.Context, r *action.Request, id kernel.ID, code string) (warning string) {
	if err := r.Kernel.SetAttrs(ctx, id, map[string]string{"icon": code}); err != nil {
		return fmt.Sprintf("the icon was not set: %v", err)
	}
	r.RefreshIcons()
	return ""
}
